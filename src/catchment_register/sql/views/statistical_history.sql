-- statistical_history: units by period and type, with their statistics.
create or replace view register.statistical_history as
select h.resolution, h.year, h.month, h.unit_type, h.exists_count, h.exists_change, h.exists_added_count,
       h.exists_removed_count, h.countable_count, h.countable_change, h.countable_added_count, h.countable_removed_count,
       h.births, h.deaths, h.name_change_count, h.primary_activity_category_change_count,
       h.secondary_activity_category_change_count, h.sector_change_count, h.legal_form_change_count,
       h.physical_region_change_count, h.physical_country_change_count, h.physical_address_change_count,
       register.stats_summary(h.moments, h.value_counts) as stats_summary
  from register.statistical_history_row as h;
comment on view register.statistical_history is
  'Years and months by type of unit: how many are there at the end and how many of them count, what came and went since the end of '
  'the period before, births and deaths, changes of units that counted both times, and statistics of those that count.';
