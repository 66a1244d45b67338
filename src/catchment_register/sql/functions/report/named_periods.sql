-- named_periods: periods written as in payloads, '2024' a year and '2024-03' a month, in the order given.
create or replace function register.named_periods(p_names text[])
  returns register.period[]
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select array_agg(p order by n.seq)
    from unnest(p_names) with ordinality as n (name, seq)
   cross join lateral (select (case when n.name like '%-%' then n.name else n.name || '-01' end
                               || '-01')::date as day) as d
   cross join lateral register.periods(d.day, d.day) as p
   where p.resolution = case when n.name like '%-%' then 'year-month' else 'year' end;
$$;
