-- sum_unit_facets: counted cells by validity, type and six dimensions, into the scratch table unit_facet_sum: their
-- number, and the values that are added and removed. From the cells of the round, those of flushes after p_after; or,
-- with p_is_lookup, from cells that were collected to look up extremes.
--
--   writes  pg_temp.unit_facet_sum
--   plan    no_jit, unsorted, memory_256
create or replace function register.sum_unit_facets(
  p_round_id   bigint,
  p_is_lookup  boolean,
  p_after      bigint
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from pg_temp.unit_facet_sum as s where s.is_lookup = p_is_lookup;
  insert into pg_temp.unit_facet_sum (is_lookup, facet_key, valid_from, valid_until, unit_type, physical_region_path,
                              primary_activity_category_path, sector_path, legal_form_id, physical_country_id,
                              status_id, count, added, removed, added_counts, removed_counts)
  select p_is_lookup,
         register.unit_facet_key(c.valid_from, c.valid_until, c.unit_type, c.physical_region_path,
                                 c.primary_activity_category_path, c.sector_path, c.legal_form_id,
                                 c.physical_country_id, c.status_id),
         c.valid_from, c.valid_until, c.unit_type, c.physical_region_path, c.primary_activity_category_path,
         c.sector_path, c.legal_form_id, c.physical_country_id, c.status_id, sum(c.sign * c.weight),
         register.total_moments(c.moments) filter (where c.sign = 1),
         register.total_moments(c.moments) filter (where c.sign = -1),
         register.total_counts(c.value_counts) filter (where c.sign = 1),
         register.total_counts(c.value_counts) filter (where c.sign = -1)
    from register.report_cell as c
   where c.round_id = p_round_id
     and c.report = 'facet'
     and (c.partition_seq < 0) = p_is_lookup
     and c.used_for_counting
     and (c.flush_id > p_after) is not false
   group by c.valid_from, c.valid_until, c.unit_type, c.physical_region_path, c.primary_activity_category_path,
            c.sector_path, c.legal_form_id, c.physical_country_id, c.status_id;
end;
$$;
