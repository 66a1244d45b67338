-- stage_history_facet: some periods of the history by facet, from the cells of the round. Made from changes, a row holds
-- differences, and the moments as they will be. p_share: of all facets the share, from 0 on, in p_shares equal ones by their key,
-- which is as good as random.
--
--   raises  RG010 when the cells were lost in a crash
create or replace function register.stage_history_facet(
  p_round_id   bigint,
  p_batch_seq  integer,
  p_periods    register.period[],
  p_share      integer,
  p_shares     integer
)
  returns integer
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set work_mem = '128MB'
  set enable_sort = off
  set enable_mergejoin = off
as $$
declare
  v_first       uuid := rpad(lpad(to_hex(65536 * p_share / p_shares), 4, '0'), 32, '0');
  v_last        uuid := rpad(lpad(to_hex(65536 * (p_share + 1) / p_shares - 1), 4, '0'), 32, 'f');
  v_is_rebuild  boolean;
  v_count       integer;
begin
  perform register.require_mark(p_round_id);
  select s.is_rebuild into strict v_is_rebuild from register.report_scope(p_round_id, 'facet') as s;

  insert into register.statistical_history_facet_staging
         (round_id, batch_seq, resolution, year, month, facet_key, unit_type, primary_activity_category_path,
          secondary_activity_category_path, sector_path, legal_form_id, physical_region_path, physical_country_id,
          unit_size_id, status_id, unit_count, exists_count, exists_change, exists_added_count, exists_removed_count,
          countable_count, countable_change, countable_added_count, countable_removed_count, births, deaths,
          name_change_count, primary_activity_category_change_count, secondary_activity_category_change_count,
          sector_change_count, legal_form_change_count, physical_region_change_count, physical_country_change_count,
          physical_address_change_count, unit_size_change_count, status_change_count, moments, value_counts, removed,
          removed_counts)
  select p_round_id, p_batch_seq, case when c.period_key % 100 = 0 then 'year' else 'year-month' end,
         c.period_key / 100, nullif(c.period_key % 100, 0),
         c.facet_key, c.unit_type, c.primary_activity_category_path, c.secondary_activity_category_path, c.sector_path,
         c.legal_form_id, c.physical_region_path, c.physical_country_id, c.unit_size_id, c.status_id,
         c.unit_count, c.exists_count, c.exists_added_count - c.exists_removed_count, c.exists_added_count,
         c.exists_removed_count, c.countable_count, c.countable_added_count - c.countable_removed_count,
         c.countable_added_count, c.countable_removed_count, c.births, c.deaths, c.name_change_count,
         c.primary_activity_category_change_count, c.secondary_activity_category_change_count, c.sector_change_count,
         c.legal_form_change_count, c.physical_region_change_count, c.physical_country_change_count,
         c.physical_address_change_count, c.unit_size_change_count, c.status_change_count,
         c.added, c.added_counts, c.removed, c.removed_counts
    from (
      -- The key tells the dimensions.
      select f.period_key, f.facet_key,
             min(f.unit_type) as unit_type,
             min(f.primary_activity_category_path) as primary_activity_category_path,
             min(f.secondary_activity_category_path) as secondary_activity_category_path,
             min(f.sector_path) as sector_path,
             min(f.legal_form_id) as legal_form_id,
             min(f.physical_region_path) as physical_region_path,
             min(f.physical_country_id) as physical_country_id,
             min(f.unit_size_id) as unit_size_id,
             min(f.status_id) as status_id,
             sum(f.amount)::integer as unit_count,
             coalesce(sum(f.amount) filter (where f.in_stock), 0)::integer as exists_count,
             coalesce(sum(f.amount) filter (where f.in_stock and not f.was_in_stock), 0)::integer as exists_added_count,
             coalesce(sum(f.amount) filter (where f.was_in_stock and not f.in_stock), 0)::integer as exists_removed_count,
             coalesce(sum(f.amount) filter (where f.counts), 0)::integer as countable_count,
             coalesce(sum(f.amount) filter (where f.counts and not f.counted), 0)::integer as countable_added_count,
             coalesce(sum(f.amount) filter (where f.counted and not f.counts), 0)::integer as countable_removed_count,
             coalesce(sum(f.amount) filter (where f.is_birth), 0)::integer as births,
             coalesce(sum(f.amount) filter (where f.is_death), 0)::integer as deaths,
             coalesce(sum(f.amount) filter (where f.has_name_change), 0)::integer as name_change_count,
             coalesce(sum(f.amount) filter (where f.has_primary_change), 0)::integer as primary_activity_category_change_count,
             coalesce(sum(f.amount) filter (where f.has_secondary_change), 0)::integer as secondary_activity_category_change_count,
             coalesce(sum(f.amount) filter (where f.has_sector_change), 0)::integer as sector_change_count,
             coalesce(sum(f.amount) filter (where f.has_form_change), 0)::integer as legal_form_change_count,
             coalesce(sum(f.amount) filter (where f.has_region_change), 0)::integer as physical_region_change_count,
             coalesce(sum(f.amount) filter (where f.has_country_change), 0)::integer as physical_country_change_count,
             coalesce(sum(f.amount) filter (where f.has_address_change), 0)::integer as physical_address_change_count,
             coalesce(sum(f.amount) filter (where f.has_size_change), 0)::integer as unit_size_change_count,
             coalesce(sum(f.amount) filter (where f.has_status_change), 0)::integer as status_change_count,
             register.total_moments(f.moments) filter (where f.sign = 1) as added,
             register.total_moments(f.moments) filter (where f.sign = -1) as removed,
             register.total_counts(f.value_counts) filter (where f.sign = 1) as added_counts,
             register.total_counts(f.value_counts) filter (where f.sign = -1) as removed_counts
        from register.history_facts(p_round_id, 'facet', false, p_periods) as f
       where f.facet_key between v_first and v_last
       group by f.period_key, f.facet_key
    ) as c
   -- A difference of nothing need not be published.
   where v_is_rebuild
      or (c.unit_count, c.exists_count, c.exists_added_count, c.exists_removed_count, c.countable_count,
          c.countable_added_count, c.countable_removed_count, c.births, c.deaths, c.name_change_count,
          c.primary_activity_category_change_count, c.secondary_activity_category_change_count, c.sector_change_count,
          c.legal_form_change_count, c.physical_region_change_count, c.physical_country_change_count,
          c.physical_address_change_count, c.unit_size_change_count, c.status_change_count)
         <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
      or c.added is distinct from c.removed
      or c.added_counts is distinct from c.removed_counts;
  get diagnostics v_count = row_count;
  if not v_is_rebuild then
    perform register.merge_history_facet(p_round_id, p_batch_seq);
  end if;
  return v_count;
end;
$$;
