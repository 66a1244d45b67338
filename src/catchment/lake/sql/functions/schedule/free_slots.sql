-- free_slots: how many tasks of refreshes could run at this moment, the one that asks included. A process has one
-- DuckDB, which one task uses at a time: each live worker that runs refreshes counts once, whatever else it serves and
-- however many tasks it may hold. One that runs a task of the lake is not free, nor is one that has no room left.
-- p_on_cluster: the tasks are computed elsewhere and only hold a slot, so all that a worker may hold count.
create or replace function lake.free_slots(p_on_cluster boolean default false)
  returns integer
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select 1 + coalesce(sum(case when p_on_cluster then greatest(coalesce(w.max_capacity, 1) - t.held, 0)
                               when t.is_at_work or t.held >= coalesce(w.max_capacity, 1) then 0
                               else 1 end), 0)::integer
    from worker.worker as w
   cross join lateral (select count(*) as held, coalesce(bool_or(q.queue = 'lake'), false) as is_at_work
                         from worker.running as r
                         join worker.queue_registry as q on q.queue_id = r.queue_id
                        where r.worker_id = w.worker_id) as t
   where w.lease_until > worker.now()
     and 'lake' = any (w.python_queues)
$$;
