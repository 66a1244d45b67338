-- queue_allowance: how many attempts a claim may start now on a limited queue; null without a limit. It takes no lock:
-- take_allowance is for claims.
create or replace function worker.queue_allowance(p_queue worker.queue_registry)
  returns integer
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select greatest(0, least(
           p_queue.max_running - (select count(*)
                                    from (select from worker.running as r where r.queue_id = p_queue.queue_id
                                           limit p_queue.max_running) as x),
           floor(0.000001 + coalesce((select worker.refilled(m.tokens, m.refilled_at, worker.now(), p_queue.rate,
                                                             p_queue.rate_per)
                                        from worker.queue_meter as m
                                       where m.queue_id = p_queue.queue_id), p_queue.rate))))::integer
   where p_queue.max_running is not null
      or p_queue.rate is not null;
$$;
