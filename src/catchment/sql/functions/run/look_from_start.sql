-- look_from_start: let this session's next claims of SQL handlers look from the start of their queues, whatever
-- position it or others remember. For callers that must know that nothing is left at all, not only behind a position.
--
--   session sets worker.position_…
create or replace function worker.look_from_start()
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select set_config(format('worker.position_%ss%s', q.queue_id, t.tier), '', false)
    from worker.queue_registry as q
   cross join generate_series(0, 1) as t (tier);
$$;
