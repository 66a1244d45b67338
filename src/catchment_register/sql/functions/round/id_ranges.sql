-- id_ranges: ids as a set of ranges: neighbours become one.
create or replace function register.id_ranges(p_ids integer[])
  returns int4multirange
  language sql immutable security definer set search_path = pg_catalog, pg_temp
as $$
  select coalesce(range_agg(int4range(u.id, u.id, '[]')), '{}') from unnest(p_ids) as u (id);
$$;
