-- noted_pace: what known_pace and known_limit read in the next call of this session. The name of no command is empty.
create or replace function worker.noted_pace(
  p_pace   jsonb,
  p_limit  integer
)
  returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select (p_pace || jsonb_build_object('', jsonb_build_array(p_limit, 1)))::text;
$$;
