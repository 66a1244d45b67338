-- amend_history_facet: differences that the children have staged are added to the history by facet, and the moments that they have
-- merged take the place of the old ones; a row without any unit left goes. Rows are found through the key: the work grows with the
-- change and not with the report.
--
--   raises  RG009 when more units would be lost than there are
create or replace function register.amend_history_facet(p_round_id bigint)
  returns jsonb
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set enable_seqscan = off
as $$
declare
  v_deleted   integer;
  v_updated   integer;
  v_inserted  integer;
begin
  if exists (
    select from register.statistical_history_facet_staging as s
      left join register.statistical_history_facet_row as p
        on p.facet_key = s.facet_key
       and p.year * 100 + coalesce(p.month, 0) = s.year * 100 + coalesce(s.month, 0)
     where s.round_id = p_round_id
       and (p.unit_count + s.unit_count < 0 or p.facet_key is null and s.unit_count <= 0)
  ) then
    raise exception using
      errcode = 'RG009',
      message = 'statistical_history_facet would lose more units than it has: it does not agree with the units it was made from',
      hint = 'Run: catchment register derive --full';
  end if;
  delete from register.statistical_history_facet_row as p
   using register.statistical_history_facet_staging as s
   where s.round_id = p_round_id
     and p.facet_key = s.facet_key
     and p.year * 100 + coalesce(p.month, 0) = s.year * 100 + coalesce(s.month, 0)
     and s.unit_count < 0
     and p.unit_count + s.unit_count = 0;
  get diagnostics v_deleted = row_count;
  update register.statistical_history_facet_row as p
     set (unit_count, exists_count, exists_change, exists_added_count, exists_removed_count, countable_count,
          countable_change, countable_added_count, countable_removed_count, births, deaths, name_change_count,
          primary_activity_category_change_count, secondary_activity_category_change_count, sector_change_count,
          legal_form_change_count, physical_region_change_count, physical_country_change_count,
          physical_address_change_count, unit_size_change_count, status_change_count, moments, value_counts)
       = (p.unit_count + s.unit_count, p.exists_count + s.exists_count, p.exists_change + s.exists_change,
          p.exists_added_count + s.exists_added_count, p.exists_removed_count + s.exists_removed_count,
          p.countable_count + s.countable_count, p.countable_change + s.countable_change,
          p.countable_added_count + s.countable_added_count, p.countable_removed_count + s.countable_removed_count,
          p.births + s.births, p.deaths + s.deaths, p.name_change_count + s.name_change_count,
          p.primary_activity_category_change_count + s.primary_activity_category_change_count,
          p.secondary_activity_category_change_count + s.secondary_activity_category_change_count,
          p.sector_change_count + s.sector_change_count, p.legal_form_change_count + s.legal_form_change_count,
          p.physical_region_change_count + s.physical_region_change_count,
          p.physical_country_change_count + s.physical_country_change_count,
          p.physical_address_change_count + s.physical_address_change_count,
          p.unit_size_change_count + s.unit_size_change_count, p.status_change_count + s.status_change_count,
          case when s.is_merged then s.merged else p.moments end,
          register.merge_counts(p.value_counts, s.value_counts, s.removed_counts))
    from register.statistical_history_facet_staging as s
   where s.round_id = p_round_id
     and p.facet_key = s.facet_key
     and p.year * 100 + coalesce(p.month, 0) = s.year * 100 + coalesce(s.month, 0);
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
         s.unit_size_change_count, s.status_change_count, s.merged,
         register.merge_counts(null, s.value_counts, s.removed_counts)
    from register.statistical_history_facet_staging as s
   where s.round_id = p_round_id
     and s.unit_count > 0
     and not exists (
       select from register.statistical_history_facet_row as p
        where p.facet_key = s.facet_key
          and p.year * 100 + coalesce(p.month, 0) = s.year * 100 + coalesce(s.month, 0));
  get diagnostics v_inserted = row_count;

  return jsonb_build_object('inserted', v_inserted, 'updated', v_updated, 'deleted', v_deleted);
end;
$$;
