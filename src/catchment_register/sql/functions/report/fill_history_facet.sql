-- fill_history_facet: the first rows of the history by facet, into an empty table. Its indexes are made when the rows are in, which
-- takes a fraction of the time.
--
--   locks   access exclusive on the table
create or replace function register.fill_history_facet(p_round_id bigint)
  returns jsonb
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set maintenance_work_mem = '256MB'
as $$
declare
  v_inserted integer;
begin
  drop index register.statistical_history_facet_key, register.statistical_history_facet_year,
             register.statistical_history_facet_month;
  insert into register.statistical_history_facet_row
         (resolution, year, month, facet_key, unit_type, primary_activity_category_path, secondary_activity_category_path,
          sector_path, legal_form_id, physical_region_path, physical_country_id, unit_size_id, status_id, unit_count,
          exists_count, exists_change, exists_added_count, exists_removed_count, countable_count, countable_change,
          countable_added_count, countable_removed_count, births, deaths, name_change_count,
          primary_activity_category_change_count, secondary_activity_category_change_count, sector_change_count,
          legal_form_change_count, physical_region_change_count, physical_country_change_count, physical_address_change_count,
          unit_size_change_count, status_change_count, moments, value_counts)
  select s.resolution, s.year, s.month, s.facet_key, s.unit_type, s.primary_activity_category_path,
         s.secondary_activity_category_path, s.sector_path, s.legal_form_id, s.physical_region_path, s.physical_country_id,
         s.unit_size_id, s.status_id, s.unit_count, s.exists_count, s.exists_change, s.exists_added_count,
         s.exists_removed_count, s.countable_count, s.countable_change, s.countable_added_count, s.countable_removed_count,
         s.births, s.deaths, s.name_change_count, s.primary_activity_category_change_count,
         s.secondary_activity_category_change_count, s.sector_change_count, s.legal_form_change_count,
         s.physical_region_change_count, s.physical_country_change_count, s.physical_address_change_count,
         s.unit_size_change_count, s.status_change_count, s.moments, s.value_counts
    from register.statistical_history_facet_staging as s
   where s.round_id = p_round_id;
  get diagnostics v_inserted = row_count;
  create unique index statistical_history_facet_key
    on register.statistical_history_facet_row (facet_key, (year * 100 + coalesce(month, 0)));
  create index statistical_history_facet_year on register.statistical_history_facet_row (year) where resolution = 'year';
  create index statistical_history_facet_month
    on register.statistical_history_facet_row (year, month) where resolution = 'year-month';
  return jsonb_build_object('inserted', v_inserted, 'updated', 0, 'deleted', 0);
end;
$$;
