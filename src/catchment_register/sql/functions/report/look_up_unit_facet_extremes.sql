-- look_up_unit_facet_extremes: for facets of units whose last holder of an extreme has gone, the extreme among those
-- that are left. Reads the units of these facets through an index.
--
--   reads   pg_temp.moment_piece, pg_temp.unit_facet_sum
--   writes  pg_temp.moment_sum, pg_temp.wanted_facet
--   plan    no_jit, hash_again
create or replace function register.look_up_unit_facet_extremes(p_round_id bigint)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from pg_temp.moment_piece as p where p.min is null or p.max is null) then
    return;
  end if;
  delete from pg_temp.wanted_facet;
  insert into pg_temp.wanted_facet (unit_type, physical_region_path, primary_activity_category_path, legal_form_id,
                                    physical_country_id,
                            status_id, is_any_size)
  select distinct f.unit_type, f.physical_region_path, f.primary_activity_category_path, f.legal_form_id,
                  f.physical_country_id,
         f.status_id, true
    from pg_temp.moment_piece as p
    join pg_temp.unit_facet_sum as f on f.facet_key = p.facet_key
   where p.min is null
      or p.max is null;
  perform register.want_units();
  perform register.collect_cells(p_round_id, 'facet', -1, '{[0,16384)}');
  perform register.sum_unit_facets(p_round_id, p_is_lookup => true, p_after => null);
  delete from pg_temp.moment_sum;
  insert into pg_temp.moment_sum (facet_key, period_key, added)
  select s.facet_key, 0, s.added from pg_temp.unit_facet_sum as s where s.is_lookup and s.added is not null;
  perform register.fill_extremes();
  delete from register.report_cell as c where c.round_id = p_round_id and c.partition_seq < 0;
end;
$$;
