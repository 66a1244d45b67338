-- upkeep_is_due: whether a round of upkeep would find anything to do. Reads a few index entries and the locks of the
-- server, and writes nothing: most rounds of most workers end here.
--
--   plan    indexed
create or replace function worker.upkeep_is_due()
  returns boolean
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select from worker.cancel_request)
      or exists (select from worker.blocked as b where b.due_at <= (select worker.now()))
      or exists (select from worker.arrival)
      or exists (select from worker.gate_arrival)
      or exists (select from worker.gate as g where g.next_at <= (select worker.now())
                     or g.refilled_at < (select worker.now()) - interval '1 hour')
      or exists (select from worker.running as r where r.backend_key is not null)
      or exists (select from worker.running as r where r.deadline_at <= (select worker.now()))
      or exists (select from worker.due_schedules())
      or exists (select from worker.trouble)
      or exists (select
                   from worker.queue_registry as q
                  where (q.max_running is not null or q.rate is not null)
                    and exists (select from worker.ready as r where r.queue_id = q.queue_id))
      or exists (select
                   from worker.worker as w
                   left join lateral worker.lock_holders(array[w.lock_key]) as h on h.pid = w.lock_pid
                  where w.lease_until < clock_timestamp()
                     or w.lock_lost_at is not null
                     or w.lock_pid is not null and h.pid is null);
$$;
