-- open_tasks: unsettled tasks of some queues, of all commands or of some. Its cost does not grow with the tasks of
-- other queues, but for those that run and open scopes. reason: what one that cannot start yet was stored for, or waits
-- for. due_at: one that is scheduled, is to be retried or snoozes starts then at the earliest. merged_into: it was
-- folded into this task.
--
--   plan    walk_sorted
create or replace function worker.open_tasks(
  p_queues    text[],
  p_commands  text[] default null
)
  returns table (id bigint, command text, queue text, payload jsonb, state text, reason text, due_at timestamptz,
                 merged_into bigint, progress jsonb)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_queues integer[];
  v_names  text[];
begin
  select array_agg(q.queue_id), array_agg(q.queue) into v_queues, v_names
    from worker.queue_registry as q
   where q.queue = any (p_queues);
  return query
  select t.id, t.command, v_names[array_position(v_queues, t.queue_id)], t.payload, o.state, o.reason, o.due_at,
         o.merged_into, o.progress
    from (select r.id, case r.rank when 0 then 'interrupted' else 'pending' end as state, null::text as reason,
                 null::timestamptz as due_at, null::bigint as merged_into, null::jsonb as progress
            from worker.ready as r
           where r.queue_id = any (v_queues)
             and r.phase = 0
           union all
          select b.id, 'pending', b.reason, null, null, null
            from worker.blocked as b
           where b.queue_id = any (v_queues)
             and b.reason = 'lane'
             and b.phase <> 1
           union all
          select b.id, 'pending', b.reason, b.due_at, case when b.reason = 'merged' then b.wait_id end, null
            from worker.blocked as b
           where b.queue_id = any (v_queues)
             and b.reason <> 'lane'
             and b.phase <> 1
           union all
          select r.id, 'processing', null, null, null, r.progress
            from worker.running as r
           where r.queue_id = any (v_queues)
           union all
          select s.id, 'waiting', case when s.is_joining then 'join' else 'children' end, null, null,
                 jsonb_build_object('done', s.total_children - s.open_children, 'total', s.total_children, 'failed',
                                    s.failed_children, 'cancelled', s.cancelled_children)
            from worker.scope as s
           where s.state = 'waiting'
             and s.queue_id = any (v_queues)
             and not exists (select from worker.running as r where r.id = s.id)) as o
    join worker.task as t on t.id = o.id
   where p_commands is null
      or t.command = any (p_commands);
end;
$$;
