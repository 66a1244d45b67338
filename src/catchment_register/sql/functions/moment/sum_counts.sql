-- sum_counts: counts of values, plus what came, minus what went; values without any left are gone, and so are variables
-- without values. Null is nothing.
create or replace function register.sum_counts(
  p_old      jsonb,
  p_added    jsonb,
  p_removed  jsonb
)
  returns jsonb
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_object_agg(v.variable, v.counts)
    from (
      select s.variable, jsonb_object_agg(s.value, s.n) as counts
        from (
          select d.key as variable, c.key as value, sum(p.sign * c.value::bigint) as n
            from (values (p_old, 1), (p_added, 1), (p_removed, -1)) as p (counts, sign)
           cross join lateral jsonb_each(p.counts) as d
           cross join lateral jsonb_each_text(d.value) as c
           group by d.key, c.key
        ) as s
       where s.n <> 0
       group by s.variable
    ) as v;
$$;
