-- top_scopes: top-level tasks that wait for their children, of the 1,000 oldest scopes, oldest first. seconds: since
-- its handler returned, from when on its children could run.
select t.id, t.command, t.queue, t.lane, t.waits_for, (t.progress ->> 'done')::bigint as done,
       (t.progress ->> 'total')::bigint as total, (t.progress ->> 'failed')::bigint as failed,
       case when isfinite(t.process_stop_at)
         then greatest(extract(epoch from worker.now() - t.process_stop_at), 0)::float8 end as seconds
  from (select s.id, s.command, s.queue, s.lane, s.waits_for, s.progress, s.process_stop_at, s.parent_id
          from worker.tasks as s
         where s.state = 'waiting'
         order by s.id
         limit 1000) as t
 where t.parent_id is null
 order by t.id
 limit %(limit)s::bigint
