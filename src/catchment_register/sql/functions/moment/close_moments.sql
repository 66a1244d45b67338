-- close_moments: the scratch table moment_piece as one array for each key of moment_merge, in moment_merged; null where
-- nothing is left.
--
--   reads   pg_temp.moment_merge, pg_temp.moment_piece
--   writes  pg_temp.moment_merged
--   plan    no_jit, hash_again, memory_128
create or replace function register.close_moments()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from pg_temp.moment_merged;
  insert into pg_temp.moment_merged (facet_key, period_key, moments)
  select t.facet_key, t.period_key, s.moments
    from pg_temp.moment_merge as t
    left join (
      select p.facet_key, p.period_key,
             array_agg(row(p.stat_definition_id, p.n, p.total, p.squares, p.min, p.min_count, p.max,
                           p.max_count)::register.moment
                       order by p.stat_definition_id) as moments -- as in sum_moments
        from pg_temp.moment_piece as p
       group by p.facet_key, p.period_key
    ) as s using (facet_key, period_key);
end;
$$;
