-- history_sums: the sums of the cells of a round by period and facet. Only this function counts measures. Made from
-- changes, sums are differences. Moments come as what is added and what is removed. Inlined, therefore without a SET
-- clause: what a caller does not ask for is not computed.
create or replace function register.history_sums(
  p_round_id  bigint,
  p_report    text,
  p_periods   register.period[]
)
  returns table (
    resolution text, year smallint, month smallint, period_key integer, facet_key uuid, unit_type text,
    primary_activity_category_path text, secondary_activity_category_path text, sector_path text, legal_form_id integer,
    physical_region_path text, physical_country_id integer, unit_size_id integer, status_id integer, unit_count integer,
    measures register.measures, added register.moment[], removed register.moment[], added_counts jsonb,
    removed_counts jsonb
  )
  language sql stable
as $$
  select case when f.period_key % 100 = 0 then 'year' else 'year-month' end,
         (f.period_key / 100)::smallint, nullif(f.period_key % 100, 0)::smallint, f.period_key, f.facet_key,
         -- The key tells the dimensions.
         min(f.unit_type), min(f.primary_activity_category_path), min(f.secondary_activity_category_path),
         min(f.sector_path), min(f.legal_form_id), min(f.physical_region_path), min(f.physical_country_id),
         min(f.unit_size_id), min(f.status_id), sum(f.amount)::integer,
         -- In the order of the type.
         row(coalesce(sum(f.amount) filter (where f.in_stock), 0),
             coalesce(sum(f.amount) filter (where f.in_stock and not f.was_in_stock), 0)
               - coalesce(sum(f.amount) filter (where f.was_in_stock and not f.in_stock), 0),
             coalesce(sum(f.amount) filter (where f.in_stock and not f.was_in_stock), 0),
             coalesce(sum(f.amount) filter (where f.was_in_stock and not f.in_stock), 0),
             coalesce(sum(f.amount) filter (where f.counts), 0),
             coalesce(sum(f.amount) filter (where f.counts and not f.counted), 0)
               - coalesce(sum(f.amount) filter (where f.counted and not f.counts), 0),
             coalesce(sum(f.amount) filter (where f.counts and not f.counted), 0),
             coalesce(sum(f.amount) filter (where f.counted and not f.counts), 0),
             coalesce(sum(f.amount) filter (where f.is_birth), 0),
             coalesce(sum(f.amount) filter (where f.is_death), 0),
             coalesce(sum(f.amount) filter (where f.has_name_change), 0),
             coalesce(sum(f.amount) filter (where f.has_primary_change), 0),
             coalesce(sum(f.amount) filter (where f.has_secondary_change), 0),
             coalesce(sum(f.amount) filter (where f.has_sector_change), 0),
             coalesce(sum(f.amount) filter (where f.has_form_change), 0),
             coalesce(sum(f.amount) filter (where f.has_region_change), 0),
             coalesce(sum(f.amount) filter (where f.has_country_change), 0),
             coalesce(sum(f.amount) filter (where f.has_address_change), 0),
             coalesce(sum(f.amount) filter (where f.has_size_change), 0),
             coalesce(sum(f.amount) filter (where f.has_status_change), 0))::register.measures,
         register.total_moments(f.moments) filter (where f.sign = 1),
         register.total_moments(f.moments) filter (where f.sign = -1),
         register.total_counts(f.value_counts) filter (where f.sign = 1),
         register.total_counts(f.value_counts) filter (where f.sign = -1)
    from register.history_facts(p_round_id, p_report, false, p_periods) as f
   group by f.period_key, f.facet_key;
$$;
