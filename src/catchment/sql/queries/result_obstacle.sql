-- result_obstacle: what keeps tasks that could start, or stand in a halted lane, from being run. handler is where a
-- command is defined that no live worker has; is_unserved says so, and of SQL that no live worker serves the queue.
select t.id, t.command, t.queue, t.handler_kind, t.lane, c.handler_procedure as handler, l.head_id as failed_id,
       q.paused_at is not null and (q.paused_until is null or q.paused_until operator(pg_catalog.>) worker.now())
         as is_paused,
       l.head_id is null and not exists (
         select
           from worker.worker as w
          where w.lease_until operator(pg_catalog.>) pg_catalog.clock_timestamp()
            and case t.handler_kind
                  when 'sql' then t.queue operator(pg_catalog.=) any (w.queues)
                  else t.queue operator(pg_catalog.=) any (w.python_queues)
                       and (w.python_commands is null or t.command operator(pg_catalog.=) any (w.python_commands))
                end
       ) as is_unserved
  from worker.tasks as t
  join worker.queue_registry as q on q.queue operator(pg_catalog.=) t.queue
  left join worker.command_registry as c on c.command operator(pg_catalog.=) t.command
  left join worker.lanes as l
    on l.queue operator(pg_catalog.=) t.queue
   and l.lane operator(pg_catalog.=) coalesce(t.lane, '')
   and l.state operator(pg_catalog.=) 'halted'
   and t.waits_for operator(pg_catalog.=) 'lane'
 where t.id operator(pg_catalog.=) any (%(ids)s::bigint[])
   and t.state operator(pg_catalog.=) any (array['pending', 'interrupted'])
   and (t.waits_for is null or l.head_id is not null)
