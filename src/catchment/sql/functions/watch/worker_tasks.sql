-- worker_tasks: what these workers run now: of each at most p_each tasks, the oldest first, and how many there are. At
-- most p_most attempts are looked at.
create or replace function worker.worker_tasks(
  p_worker_ids  bigint[],
  p_each        integer default 5,
  p_most        integer default 10000
)
  returns table (worker_id bigint, id bigint, command text, queue text, attempt integer, started_at timestamptz,
                 tasks bigint)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with numbered as (
    select r.worker_id, r.id, r.queue_id, r.attempt, r.started_at,
           row_number() over (partition by r.worker_id order by r.started_at, r.id) as n,
           count(*) over (partition by r.worker_id) as tasks
      from (select x.worker_id, x.id, x.queue_id, x.attempt, x.started_at
              from worker.running as x
             where x.worker_id = any (p_worker_ids)
             limit p_most) as r
  )
  select r.worker_id, r.id, t.command, q.queue, r.attempt, r.started_at, r.tasks
    from numbered as r
   cross join lateral (select y.command from worker.task as y where y.id = r.id limit 1) as t
    join worker.queue_registry as q on q.queue_id = r.queue_id
   where r.n <= p_each
   order by r.worker_id, r.n;
$$;
