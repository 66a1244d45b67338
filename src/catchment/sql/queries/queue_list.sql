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
       coalesce(s.workers, 0) as workers,
       q.description
  from worker.queues as q
  left join (select v.queue, count(*) as workers
               from worker.served_queues() as v
               join worker.worker as w on w.worker_id = v.worker_id
              where w.lease_until > clock_timestamp()
                and w.asked is null
              group by v.queue) as s
    on s.queue = q.queue
 order by q.queue
