-- top_workers: worker processes, silent ones first, then by name. running: slots that are taken now.
select w.worker_id, w.name, w.pid, w.version,
       coalesce(s.queues, '{}') as queues,
       w.max_capacity as capacity,
       t.taken as running, w.memory_usage::float8 as memory_usage,
       greatest(extract(epoch from worker.now() - w.seen_at), 0)::float8 as seen_seconds,
       extract(epoch from worker.now() - w.started_at)::float8 as up_seconds,
       w.lease_until < worker.now() as is_silent
  from worker.worker as w
  join worker.slots_taken() as t on t.worker_id = w.worker_id
  left join (select v.worker_id, array_agg(v.queue order by v.queue) as queues
               from worker.served_queues() as v
              group by v.worker_id) as s
    on s.worker_id = w.worker_id
 order by w.lease_until < worker.now() desc, w.name, w.worker_id
 limit %(limit)s::bigint
