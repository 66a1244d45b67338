-- free_slots: how many tasks of refreshes could run at this moment, the one that asks included. Counted are workers
-- that serve the lake alone: nobody knows what another one would do with a slot.
create or replace function lake.free_slots()
  returns integer
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select greatest(1, coalesce((select sum(w.max_capacity)
                                 from worker.worker as w
                                where w.lease_until > worker.now()
                                  and 'lake' = any (w.queues)
                                  and w.queues <@ array['lake', 'lake_schedule']), 0)::integer
                     - (select count(*)
                          from worker.running as r
                          join worker.queue_registry as q on q.queue_id = r.queue_id
                         where q.queue = 'lake')::integer
                     + 1)
$$;
