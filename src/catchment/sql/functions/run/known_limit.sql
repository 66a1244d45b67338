-- known_limit: how many tasks the first claim of a call takes: as many as the last one would have, if that call ended
-- while there was work.
create or replace function worker.known_limit(p_pace jsonb)
  returns integer
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select greatest(1, least(32, (p_pace -> '' ->> 0)::integer));
$$;
