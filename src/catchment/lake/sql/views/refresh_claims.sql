-- refresh_claims: which worker works on which dynamic table now. A coordinator that waits for its subtasks is held by
-- no worker: worker_id is null, and its sign of life is the newest of those that compute for it. worker_id names a
-- process: the name of the worker, which is that of its host by default, and its number in worker.worker.
create or replace view lake.refresh_claims as
select d.schema_name || '.' || d.name as dynamic_table, w.name || '-' || w.worker_id as worker_id,
       r.started_at as claimed_at,
       coalesce(w.seen_at, (select max(b.seen_at)
                              from worker.task as t
                              join worker.running as u on u.id = t.id
                              join worker.worker as b on b.worker_id = u.worker_id
                             where t.parent_id = r.task_id)) as heartbeat_at,
       case when r.plan is null then 'single' else 'coordinator' end as mode, null::bigint as parent_refresh_id,
       s.total_children as subtasks_total,
       s.total_children - s.open_children - s.failed_children - s.cancelled_children as subtasks_completed
  from lake.refresh as r
  join lake.dt as d on d.id = r.dt_id
  left join worker.running as h on h.id = r.task_id
  left join worker.worker as w on w.worker_id = h.worker_id
  left join worker.scope as s on s.id = r.task_id
 where r.finished_at is null
   and r.started_at is not null
union all
select d.schema_name || '.' || d.name, w.name || '-' || w.worker_id, h.started_at, w.seen_at, 'subtask', r.id, null,
       null
  from lake.refresh as r
  join lake.dt as d on d.id = r.dt_id
  join worker.task as t on t.parent_id = r.task_id and t.command = 'lake_bucket'
  join worker.running as h on h.id = t.id
  join worker.worker as w on w.worker_id = h.worker_id
 where r.finished_at is null;
comment on view lake.refresh_claims is
  'Refreshes at work: mode single, coordinator or subtask; for a coordinator how many of its subtasks are completed.';
