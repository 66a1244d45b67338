-- id_array: the ids of a set of ranges, in order: an index finds these, but not ranges.
create or replace function register.id_array(p_ids int4multirange)
  returns integer[]
  language sql immutable security definer set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(n order by n), '{}')
    from unnest(p_ids) as i (ids)
   cross join lateral generate_series(lower(i.ids), upper(i.ids) - 1) as n;
$$;
