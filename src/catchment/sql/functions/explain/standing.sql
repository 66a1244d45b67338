-- standing: a task as the evidence about another one names it: id, command, state, since when, and what it waits for
-- itself. Null if there is no such task.
create or replace function worker.standing(p_task_id bigint)
  returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object('id', t.id, 'command', t.command, 'state', s.state, 'since', s.since,
                                              'waits_for', s.waits_for))
    from worker.task as t
   cross join lateral (
     select 'processing' as state, r.started_at as since, null as waits_for from worker.running as r where r.id = t.id
     union all
     select 'waiting', s.stopped_at, case when s.is_joining then 'join' else 'children' end
       from worker.scope as s
      where s.id = t.id and s.state = 'waiting'
     union all
     select case r.rank when 0 then 'interrupted' else 'pending' end, r.since, r.waits_for
       from worker.at_hand as r
      where r.id = t.id
     union all
     select 'pending', null, l.waits_for from worker.in_line as l where l.id = t.id
     union all
     select o.state, o.completed_at, null from worker.outcome as o where o.id = t.id
     limit 1
   ) as s
   where t.id = p_task_id;
$$;
