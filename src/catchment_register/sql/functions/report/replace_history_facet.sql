-- replace_history_facet: the history by facet is what the children have staged from all units: rows that are equal are left
-- alone, rows that nothing supports go. Joined by hashing whatever the planner believes: it may believe a table empty that is
-- being filled.
create or replace function register.replace_history_facet(p_round_id bigint)
  returns jsonb
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set work_mem = '128MB'
  set enable_nestloop = off
  set enable_mergejoin = off
as $$
declare
  v_deleted   integer;
  v_updated   integer;
  v_inserted  integer;
begin
  delete from register.statistical_history_facet_row as p
   where not exists (
     select from register.statistical_history_facet_staging as s
      where s.round_id = p_round_id
        and p.facet_key = s.facet_key
        and p.year * 100 + coalesce(p.month, 0) = s.year * 100 + coalesce(s.month, 0));
  get diagnostics v_deleted = row_count;
  update register.statistical_history_facet_row as p
     set (unit_count, exists_count, exists_change, exists_added_count, exists_removed_count, countable_count,
          countable_change, countable_added_count, countable_removed_count, births, deaths, name_change_count,
          primary_activity_category_change_count, secondary_activity_category_change_count, sector_change_count,
          legal_form_change_count, physical_region_change_count, physical_country_change_count,
          physical_address_change_count, unit_size_change_count, status_change_count, moments, value_counts)
       = (s.unit_count, s.exists_count, s.exists_change, s.exists_added_count, s.exists_removed_count, s.countable_count,
          s.countable_change, s.countable_added_count, s.countable_removed_count, s.births, s.deaths, s.name_change_count,
          s.primary_activity_category_change_count, s.secondary_activity_category_change_count, s.sector_change_count,
          s.legal_form_change_count, s.physical_region_change_count, s.physical_country_change_count,
          s.physical_address_change_count, s.unit_size_change_count, s.status_change_count, s.moments, s.value_counts)
    from register.statistical_history_facet_staging as s
   where s.round_id = p_round_id
     and p.facet_key = s.facet_key
     and p.year * 100 + coalesce(p.month, 0) = s.year * 100 + coalesce(s.month, 0)
     and (p.unit_count, p.exists_count, p.exists_change, p.exists_added_count, p.exists_removed_count, p.countable_count,
          p.countable_change, p.countable_added_count, p.countable_removed_count, p.births, p.deaths, p.name_change_count,
          p.primary_activity_category_change_count, p.secondary_activity_category_change_count, p.sector_change_count,
          p.legal_form_change_count, p.physical_region_change_count, p.physical_country_change_count,
          p.physical_address_change_count, p.unit_size_change_count, p.status_change_count, p.moments, p.value_counts)
         is distinct from
         (s.unit_count, s.exists_count, s.exists_change, s.exists_added_count, s.exists_removed_count, s.countable_count,
          s.countable_change, s.countable_added_count, s.countable_removed_count, s.births, s.deaths, s.name_change_count,
          s.primary_activity_category_change_count, s.secondary_activity_category_change_count, s.sector_change_count,
          s.legal_form_change_count, s.physical_region_change_count, s.physical_country_change_count,
          s.physical_address_change_count, s.unit_size_change_count, s.status_change_count, s.moments, s.value_counts);
  get diagnostics v_updated = row_count;
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
   where s.round_id = p_round_id
  on conflict (facet_key, (year * 100 + coalesce(month, 0))) do nothing;
  get diagnostics v_inserted = row_count;
  return jsonb_build_object('inserted', v_inserted, 'updated', v_updated, 'deleted', v_deleted);
end;
$$;
