-- worker_list: worker processes, silent ones first, then by name. running: slots that are taken now.
select w.worker_id, w.name, w.pid, w.version,
       case when w.lease_until < worker.now() then 'silent'
            when w.asked = 'drain'            then 'draining'
            when w.asked = 'pause'            then 'paused'
            else 'live'
       end as state,
       w.asked_at as requested_at, w.asked_by as requested_by, w.queues, w.python_queues, w.python_commands,
       coalesce(s.queues, '{}') as served,
       w.max_capacity as capacity,
       t.taken as running, w.memory_usage::float8 as memory_usage,
       w.loop_lag::float8 as loop_lag, w.started_at, w.seen_at, w.lease_until
  from worker.worker as w
  join worker.slots_taken() as t on t.worker_id = w.worker_id
  left join (select v.worker_id, array_agg(v.queue order by v.queue) as queues
               from worker.served_queues() as v
              group by v.worker_id) as s
    on s.worker_id = w.worker_id
 order by w.lease_until < worker.now() desc, w.name, w.worker_id
 limit %(limit)s::bigint
