-- statistical_unit_facet: counted units by validity and six dimensions, with their statistics.
create or replace view register.statistical_unit_facet as
select f.valid_from, case when isfinite(f.valid_until) then f.valid_until - 1 else f.valid_until end as valid_to,
       f.valid_until, f.unit_type, f.physical_region_path, f.primary_activity_category_path, f.sector_path,
       f.legal_form_id, f.physical_country_id, f.status_id, f.count,
       register.stats_summary(f.moments, f.value_counts) as stats_summary
  from register.statistical_unit_facet_row as f;
comment on view register.statistical_unit_facet is
  'Units that count, by the time they are valid and what they are. At a day, sum the rows with valid_from <= day < '
  'valid_until.';
