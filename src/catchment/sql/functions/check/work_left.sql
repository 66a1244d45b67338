-- work_left: the unsettled tasks of these queues, by what keeps this worker from running them: no_handler (it does not
-- have the command), paused, halted (the lane's head has failed), later (not due), behind (waits for another task, or
-- another worker runs it).
create or replace function worker.work_left(
  p_worker_id  bigint,
  p_queues     text[]
)
  returns table (reason text, queue text, command text, handler text, tasks bigint)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with open as (
    select r.id, r.queue_id, r.kind, null::timestamptz as due_at from worker.ready as r
    union all
    select b.id, b.queue_id, b.kind, b.due_at from worker.blocked as b
    union all
    select n.id, n.queue_id, t.kind, null from worker.running as n join worker.task as t on t.id = n.id
    union all
    select c.id, c.queue_id, c.kind, 'infinity' from worker.scope as c where c.state = 'waiting' and not c.is_joining
  ), judged as (
    select case
             when o.due_at = 'infinity'
               then 'behind'
             when o.kind = 'p' and not (coalesce(q.queue = any (w.python_queues), false)
                                        and (w.python_commands is null or t.command = any (w.python_commands)))
               then 'no_handler'
             when q.paused_at is not null and coalesce(q.paused_until > worker.now(), true)
               then 'paused'
             when o.due_at is not null
               then 'later'
             when l.halted_at is not null
               then 'halted'
             else 'behind'
           end as reason, q.queue, t.command, c.handler_procedure as handler
      from open as o
      join worker.task as t on t.id = o.id
      join worker.queue_registry as q on q.queue_id = o.queue_id
      left join worker.worker as w on w.worker_id = p_worker_id
      left join worker.lane as l on l.queue_id = o.queue_id and l.lane = coalesce(t.lane, '')
      left join worker.command_registry as c on c.command = t.command
     where q.queue = any (p_queues)
  )
  select j.reason, j.queue, j.command, min(j.handler), count(*)
    from judged as j
   group by j.reason, j.queue, j.command
   order by j.reason, j.queue, j.command;
$$;
