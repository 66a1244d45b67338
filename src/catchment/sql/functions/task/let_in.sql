-- let_in: what has become ready without anybody doing anything: due tasks, arrivals to lanes, arrivals to gates and gates that
-- open by time. Called before a claim.
--
-- p_queues are the queues of that claim, all of them if null. Where there is something to let in, the meters of those that are
-- limited come first: so nobody waits for a meter with lanes or gates in hand.
--
--   locks   see hold_meters, promote_due, admit_arrivals and admit_to_gates
create or replace function worker.let_in(p_queues text[] default null)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
as $$
declare
  v_is_due      boolean;
  v_has_arrived boolean;
  v_gates       boolean;
begin
  select exists (select from worker.blocked as b where b.due_at <= worker.now()),
         exists (select from worker.arrival),
         exists (select from worker.gate_arrival) or exists (select from worker.gate as g where g.next_at <= worker.now())
    into v_is_due, v_has_arrived, v_gates;
  if not (v_is_due or v_has_arrived or v_gates) then
    return;
  end if;
  if exists (select from worker.queue_registry as q
              where (q.max_running is not null or q.rate is not null) and (p_queues is null or q.queue = any (p_queues))) then
    perform worker.hold_meters(p_queues);
  end if;
  if v_is_due then
    perform worker.promote_due();
  end if;
  if v_has_arrived or v_is_due then
    perform worker.admit_arrivals();
  end if;
  if v_gates or v_is_due then
    perform worker.admit_to_gates();
  end if;
end;
$$;
