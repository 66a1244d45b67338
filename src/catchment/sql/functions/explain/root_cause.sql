-- root_cause: what a user must fix before a task can continue: no worker, a paused queue, a halted lane, trouble of
-- upkeep. It is looked for at the task, then at what that waits for (the task in front of it, a child, its root), and
-- so on, a few steps. Without any, the row is the first condition that holds the task itself back, and is not urgent.
--
--   plan    explain
create or replace function worker.root_cause(p_task_id bigint)
  returns table (task_id bigint, command text, is_urgent boolean, kind text, words text, remedy text)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_steps constant integer := 10;
  c_most  constant integer := 1000;
  v_id    bigint := p_task_id;
  v_seen  bigint[] := '{}';
  v_now   timestamptz := worker.now();
  v_held  worker.condition[];
  v_first worker.condition;
  v_cause worker.condition;
begin
  while v_id is not null and v_id <> all (v_seen) and cardinality(v_seen) < c_steps loop
    v_held := array(select c from worker.explain(v_id) as c where c.is_blocking);
    select c.* into v_cause
      from unnest(v_held) with ordinality as c (kind, is_blocking, evidence, words, remedy, n)
     where c.kind in ('no_worker', 'no_command', 'worker_paused', 'paused', 'halted', 'upkeep_failed')
     order by c.n
     limit 1;
    if v_cause.kind is not null then
      return query select t.id, t.command, true, v_cause.kind, v_cause.words, v_cause.remedy
                     from worker.task as t where t.id = v_id;
      return;
    end if;
    v_seen := v_seen || v_id;
    v_first := case when v_id = p_task_id then v_held[1] else v_first end;
    -- Of children, rather one that nobody can run.
    v_id := coalesce(
      (select c.id
         from (select t.id, t.command, t.queue_id, t.kind from worker.task as t where t.parent_id = v_id
                order by t.parent_id, t.id limit c_most) as c
         join worker.queue_registry as q on q.queue_id = c.queue_id
        where v_held[1].kind = 'children'
          and not worker.serving(q.queue, c.command, c.kind, v_now)
          and (exists (select from worker.ready as r where r.id = c.id)
               or exists (select from worker.in_line as l where l.id = c.id and l.waits_for is null))
        limit 1),
      (select (coalesce(c.evidence -> 'task', c.evidence -> 'holders' -> 0) ->> 'id')::bigint
         from unnest(v_held) with ordinality as c (kind, is_blocking, evidence, words, remedy, n)
        where coalesce(c.evidence -> 'task', c.evidence -> 'holders' -> 0) is not null
        order by c.n
        limit 1));
  end loop;
  if v_first.kind is not null then
    return query select t.id, t.command, false, v_first.kind, v_first.words, v_first.remedy
                   from worker.task as t where t.id = p_task_id;
  end if;
end;
$$;
