-- top_workers: worker processes, silent ones first, then by name. running is as of the last heartbeat.
select w.worker_id, w.name, w.pid, w.version, w.queues || w.python_queues as queues, w.max_capacity as capacity,
       w.max_capacity - w.available_capacity as running, w.memory_usage::float8 as memory_usage,
       greatest(extract(epoch from worker.now() - w.seen_at), 0)::float8 as seen_seconds,
       extract(epoch from worker.now() - w.started_at)::float8 as up_seconds,
       w.lease_until < worker.now() as is_silent
  from worker.worker as w
 order by w.lease_until < worker.now() desc, w.name, w.worker_id
 limit %(limit)s::bigint
