-- queue_list: each queue with what is in it, and the live workers that have at least one of its commands. concurrency
-- bounds SQL handlers alone: a queue whose commands are all in Python has none.
select q.queue, q.mode,
       case when exists (select from worker.command_registry as c where c.queue = q.queue and c.handler_kind = 'sql')
              or not exists (select from worker.command_registry as c where c.queue = q.queue)
         then q.concurrency end as concurrency,
       q.max_depth, q.is_paused, q.paused_until, q.ready, q.blocked, q.processing,
       q.waiting,
       case when isfinite(q.oldest_ready_since)
         then round(extract(epoch from clock_timestamp() - q.oldest_ready_since))::bigint end as oldest_ready_seconds,
       (select count(*)
          from worker.worker as w
         where w.lease_until > clock_timestamp()
           and w.asked is null
           and exists (select
                         from worker.command_registry as c
                        where c.queue = q.queue
                          and case c.handler_kind
                                when 'sql' then q.queue = any (w.queues)
                                else q.queue = any (w.python_queues)
                                     and (w.python_commands is null or c.command = any (w.python_commands))
                              end)) as workers,
       q.description
  from worker.queues as q
 order by q.queue
