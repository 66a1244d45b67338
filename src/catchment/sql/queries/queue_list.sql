-- queue_list: each queue with what is in it and who serves it.
select q.queue, q.mode, q.concurrency, q.max_depth, q.is_paused, q.paused_until, q.ready, q.blocked, q.processing,
       q.waiting,
       case when isfinite(q.oldest_ready_since)
         then round(extract(epoch from clock_timestamp() - q.oldest_ready_since))::bigint end as oldest_ready_seconds,
       (select count(*) from worker.worker as w where q.queue = any (w.queues)) as workers, q.description
  from worker.queues as q
 order by q.queue
