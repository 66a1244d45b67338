-- count_ids: how many ids there are in a set of ranges.
create or replace function register.count_ids(p_ids int4multirange)
  returns integer
  language sql immutable security definer set search_path = pg_catalog, pg_temp
as $$
  select coalesce(sum(upper(i.ids) - lower(i.ids)), 0)::integer from unnest(p_ids) as i (ids);
$$;
