-- add_measures: the measures of two groups as those of one; what a change takes away is negative. Inlined, so that fields are taken
-- where they lie: therefore without settings of its own. As the step of an aggregate it would not be, and cost eight times the sums.
create or replace function register.add_measures(
  p_one  register.measures,
  p_two  register.measures
)
  returns register.measures
  language sql
  immutable
  parallel safe
as $$
  select row(p_one.exists_count + p_two.exists_count,
             p_one.exists_change + p_two.exists_change,
             p_one.exists_added_count + p_two.exists_added_count,
             p_one.exists_removed_count + p_two.exists_removed_count,
             p_one.countable_count + p_two.countable_count,
             p_one.countable_change + p_two.countable_change,
             p_one.countable_added_count + p_two.countable_added_count,
             p_one.countable_removed_count + p_two.countable_removed_count,
             p_one.births + p_two.births,
             p_one.deaths + p_two.deaths,
             p_one.name_change_count + p_two.name_change_count,
             p_one.primary_activity_category_change_count + p_two.primary_activity_category_change_count,
             p_one.secondary_activity_category_change_count + p_two.secondary_activity_category_change_count,
             p_one.sector_change_count + p_two.sector_change_count,
             p_one.legal_form_change_count + p_two.legal_form_change_count,
             p_one.physical_region_change_count + p_two.physical_region_change_count,
             p_one.physical_country_change_count + p_two.physical_country_change_count,
             p_one.physical_address_change_count + p_two.physical_address_change_count,
             p_one.unit_size_change_count + p_two.unit_size_change_count,
             p_one.status_change_count + p_two.status_change_count)::register.measures;
$$;
