-- rouse_limited: wake the workers that sleep on a limited queue with work: no other notification tells them that the
-- limit allows more. Gates that have been idle for an hour are deleted.
--
--   locks   gate rows that are free
create or replace function worker.rouse_limited()
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_queues integer[];
  v_count  integer;
begin
  v_queues := array(
    select q.queue_id
      from worker.queue_registry as q
     where (q.max_running is not null or q.rate is not null)
       and exists (select from worker.ready as r where r.queue_id = q.queue_id));
  if v_queues <> '{}' then
    perform worker.wake(v_queues, t.tier) from generate_series(0, 2) as t (tier);
  end if;
  delete from worker.gate as g
   where g.ctid = any (array(select x.ctid
                               from worker.gate as x
                              where x.held = 0
                                and x.refilled_at < worker.now() - interval '1 hour'
                                and not exists (select from worker.blocked as b where b.reason = 'limit'
                                                   and b.lane = x.gate)
                                and not exists (select from worker.gate_arrival as a where a.gate = x.gate)
                              limit 1000
                                for update skip locked));
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
