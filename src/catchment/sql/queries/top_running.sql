-- top_running: tasks that run, of the 1,000 oldest, those that started first, with the worker of each.
select t.id, t.command, t.queue, t.lane, t.attempt, t.worker_id, w.name as host, w.pid,
       case when isfinite(t.process_start_at)
         then greatest(extract(epoch from worker.now() - t.process_start_at), 0)::float8 end as seconds
  from (select r.id, r.command, r.queue, r.lane, r.attempt, r.worker_id, r.process_start_at
          from worker.tasks as r
         where r.state = 'processing'
         order by r.id
         limit 1000) as t
  left join worker.worker as w on w.worker_id = t.worker_id
 order by t.process_start_at, t.id
 limit %(limit)s::bigint
