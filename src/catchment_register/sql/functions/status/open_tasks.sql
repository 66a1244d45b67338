-- open_tasks: tasks of some commands that are due and not settled. One that is put off does not count: whether
-- something is stale meanwhile, the caller knows by other means.
create or replace function register.open_tasks(p_commands text[])
  returns table (
    id        bigint,
    command   text,
    payload   jsonb,
    state     text,
    progress  jsonb
  )
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  -- Settled tasks are many and have an index of their own: the states are named, so that only tables of the others are
  -- read.
  select t.id, t.command, t.payload, t.state, t.progress
    from worker.tasks as t
   where t.state in ('pending', 'processing', 'waiting', 'interrupted')
     and register.is_unsettled(t.state)
     and t.command = any (p_commands)
     and (t.waits_for is distinct from 'scheduled' or t.due_at <= worker.now());
$$;
