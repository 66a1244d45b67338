-- statistical_history_facet: the history of units by eight dimensions, with their statistics.
create or replace view register.statistical_history_facet as
select h.resolution, h.year, h.month, h.unit_type, h.primary_activity_category_path, h.secondary_activity_category_path,
       h.sector_path, h.legal_form_id, h.physical_region_path, h.physical_country_id, h.unit_size_id, h.status_id,
       (h.measures).*,
       register.stats_summary(h.moments, h.value_counts) as stats_summary
  from register.statistical_history_facet_row as h
 where register.is_shown('statistical_history_facet');
comment on view register.statistical_history_facet is
  'statistical_history by what units are at the end of the period, or were at the end of the one before. Sums over all '
  'facets are the rows of statistical_history.';
