-- statistical_history: units by period and type, with their statistics.
create or replace view register.statistical_history as
select h.resolution, h.year, h.month, h.unit_type,
       (h.measures).exists_count, (h.measures).exists_change, (h.measures).exists_added_count,
       (h.measures).exists_removed_count, (h.measures).countable_count, (h.measures).countable_change,
       (h.measures).countable_added_count, (h.measures).countable_removed_count, (h.measures).births,
       (h.measures).deaths, (h.measures).name_change_count, (h.measures).primary_activity_category_change_count,
       (h.measures).secondary_activity_category_change_count, (h.measures).sector_change_count,
       (h.measures).legal_form_change_count, (h.measures).physical_region_change_count,
       (h.measures).physical_country_change_count, (h.measures).physical_address_change_count,
       register.stats_summary(h.moments, h.value_counts) as stats_summary
  from register.statistical_history_row as h;
comment on view register.statistical_history is
  'Years and months by type of unit: how many are there at the end and how many of them count, what came and went '
  'since the end of the period before, births and deaths, changes of units that counted both times, and statistics of '
  'those that count.';
