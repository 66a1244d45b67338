-- fill_extremes: extremes that merge_moments had to leave open, from sums of all values of their keys in moment_sum.
--
--   raises  RG015 a report does not agree with its units
--   reads   pg_temp.moment_piece, pg_temp.moment_sum
--   writes  pg_temp.moment_piece
--   plan    hash_again
create or replace function register.fill_extremes()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update pg_temp.moment_piece as p
     set min = m.min, min_count = m.min_count, max = m.max, max_count = m.max_count
    from pg_temp.moment_sum as s
   cross join lateral unnest(s.added) as m
   where s.facet_key = p.facet_key
     and s.period_key = p.period_key
     and m.stat_definition_id = p.stat_definition_id
     and (p.min is null or p.max is null);
  if exists (select from pg_temp.moment_piece as p where p.min is null or p.max is null) then
    raise exception using
      errcode = 'RG015',
      message = 'a report has values that no unit has: it does not agree with the units it was made from',
      hint = 'Run: catchment register derive --full';
  end if;
end;
$$;
