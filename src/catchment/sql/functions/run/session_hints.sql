-- session_hints: the settings with hints of the engine that this session of a worker keeps for a queue; null in any
-- other session, whose settings are not reset.
--
--   session reads worker.worker_id
create or replace function worker.session_hints(p_queue text)
  returns text[]
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select case when nullif(current_setting('worker.worker_id', true), '') is not null then
           array['worker.worker_id', 'worker.scope_at']
           || array(select format('worker.position_%ss%s', q.queue_id, t.tier)
                      from worker.queue_registry as q
                     cross join generate_series(0, 1) as t (tier)
                     where q.queue = p_queue)
         end;
$$;
