-- stage_history: some periods of the history, from the cells of the round. Made from changes, a row holds differences.
--
--   raises  RG010 when the cells were lost in a crash
create or replace function register.stage_history(
  p_round_id   bigint,
  p_batch_seq  integer,
  p_periods    register.period[]
)
  returns integer
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set work_mem = '128MB'
  set enable_mergejoin = off
as $$
declare
  v_is_rebuild  boolean;
  v_count       integer;
begin
  perform register.require_mark(p_round_id);
  perform register.open_report_scratch();
  select s.is_rebuild into strict v_is_rebuild from register.report_scope(p_round_id, 'history') as s;

  delete from moment_part;
  insert into moment_part (facet_key, period_key, sign, moments, value_counts)
  select f.facet_key, f.period_key, f.sign, f.moments, f.value_counts
    from register.history_facts(p_round_id, 'history', false, p_periods) as f
   where f.moments is not null
      or f.value_counts is not null;
  perform register.sum_moments();

  insert into register.statistical_history_staging
         (round_id, batch_seq, resolution, year, month, unit_type, unit_count, exists_count, exists_change,
          exists_added_count, exists_removed_count, countable_count, countable_change, countable_added_count,
          countable_removed_count, births, deaths, name_change_count, primary_activity_category_change_count,
          secondary_activity_category_change_count, sector_change_count, legal_form_change_count,
          physical_region_change_count, physical_country_change_count, physical_address_change_count, moments, value_counts,
          removed, removed_counts)
  select p_round_id, p_batch_seq, case when c.period_key % 100 = 0 then 'year' else 'year-month' end,
         c.period_key / 100, nullif(c.period_key % 100, 0),
         c.unit_type,
         c.unit_count, c.exists_count, c.exists_added_count - c.exists_removed_count, c.exists_added_count,
         c.exists_removed_count, c.countable_count, c.countable_added_count - c.countable_removed_count,
         c.countable_added_count, c.countable_removed_count, c.births, c.deaths, c.name_change_count,
         c.primary_activity_category_change_count, c.secondary_activity_category_change_count, c.sector_change_count,
         c.legal_form_change_count, c.physical_region_change_count, c.physical_country_change_count,
         c.physical_address_change_count,
         m.added, n.added, m.removed, n.removed
    from (
      select f.period_key, f.facet_key, f.unit_type,
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
             coalesce(sum(f.amount) filter (where f.has_address_change), 0)::integer as physical_address_change_count
        from register.history_facts(p_round_id, 'history', false, p_periods) as f
       group by f.period_key, f.facet_key, f.unit_type
    ) as c
    left join moment_sum as m using (facet_key, period_key)
    left join count_sum as n using (facet_key, period_key)
   -- A difference of nothing need not be published.
   where v_is_rebuild
      or (c.unit_count, c.exists_count, c.exists_added_count, c.exists_removed_count, c.countable_count,
          c.countable_added_count, c.countable_removed_count, c.births, c.deaths, c.name_change_count,
          c.primary_activity_category_change_count, c.secondary_activity_category_change_count, c.sector_change_count,
          c.legal_form_change_count, c.physical_region_change_count, c.physical_country_change_count,
          c.physical_address_change_count)
         <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
      or m.added is distinct from m.removed
      or n.added is distinct from n.removed;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
