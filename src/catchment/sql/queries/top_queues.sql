-- top_queues: each queue with what is in it, and how many tasks of it end in a second. Counts stop at 10,000.
select f.queue, f.mode, f.concurrency, f.paused_at is not null as is_paused, f.paused_until, f.ready, f.later,
       f.blocked, f.processing, f.waiting, f.failed as failed_last_hour, f.workers,
       case when isfinite(f.oldest_ready_since)
         then greatest(extract(epoch from worker.now() - f.oldest_ready_since), 0)::float8 end as oldest_ready_seconds,
       coalesce(e.ended / e.seconds, 0)::float8 as ended_per_second
  from worker.queue_figures(worker.now() - interval '1 hour', 10000) as f
  left join worker.recent_ends(interval '10 seconds') as e on e.queue = f.queue
 order by f.queue
