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
  select t.id, t.command, t.payload, t.state, t.progress
    from worker.open_tasks(array(select distinct c.queue from worker.command_registry as c
                                  where c.command = any (p_commands)), p_commands) as t
   where register.is_unsettled(t.state)
     and (t.reason is distinct from 'scheduled' or t.due_at <= worker.now());
$$;
