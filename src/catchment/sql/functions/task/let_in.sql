-- let_in: make ready what time or another commit has released: due tasks, arrivals to lanes, arrivals to gates and
-- gates that open by time. Called before a claim that has seen some of them; by default it looks for all.
--
-- p_queues are the queues of that claim, all of them if null. The meters of those that are limited come first: so no
-- transaction waits for a meter while it holds lanes or gates.
--
--   locks   see hold_meters, promote_due, admit_arrivals and admit_to_gates
create or replace function worker.let_in(
  p_queues       text[] default null,
  p_is_due       boolean default true,
  p_has_arrived  boolean default true,
  p_has_gates    boolean default true
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from worker.queue_registry as q
              where (q.max_running is not null or q.rate is not null)
                and (p_queues is null or q.queue = any (p_queues))) then
    perform worker.hold_meters(p_queues);
  end if;
  if p_is_due then
    perform worker.promote_due();
  end if;
  if p_has_arrived or p_is_due then
    perform worker.admit_arrivals();
  end if;
  if p_has_gates or p_is_due then
    perform worker.admit_to_gates();
  end if;
end;
$$;
