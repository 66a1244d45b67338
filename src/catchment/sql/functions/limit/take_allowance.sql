-- take_allowance: how many attempts a limited queue may start now. The claims of one queue take turns here until they
-- commit.
--
-- Meters are the first rows that a claim waits for: see let_in. Several are taken by name of the queue.
--
--   locks   the meter row of the queue
create or replace function worker.take_allowance(
  p_queue  worker.queue_registry,
  p_limit  integer
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now   timestamptz := worker.now();
  v_meter worker.queue_meter;
begin
  insert into worker.queue_meter (queue_id, tokens, refilled_at)
  values (p_queue.queue_id, coalesce(p_queue.rate, 0), v_now)
  on conflict (queue_id) do nothing;
  select m.* into v_meter from worker.queue_meter as m where m.queue_id = p_queue.queue_id for update;
  return greatest(0, least(p_limit,
                           p_queue.max_running - (select count(*) from worker.running as r
                                                   where r.queue_id = p_queue.queue_id),
                           floor(0.000001 + worker.refilled(v_meter.tokens, v_meter.refilled_at, v_now, p_queue.rate,
                                                            p_queue.rate_per))));
end;
$$;
