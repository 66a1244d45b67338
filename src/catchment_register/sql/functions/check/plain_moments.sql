-- plain_moments: moments without the number of rows that hold the extremes, which is known only for some.
create or replace function register.plain_moments(p_moments register.moment[])
  returns register.moment[]
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select array_agg(row(m.stat_definition_id, m.n, m.total, m.squares, m.min, null, m.max, null)::register.moment
                   order by m.ordinality)
    from unnest(p_moments) with ordinality as m;
$$;
