-- staged_row: a staged row as a published one, to be compared or written as a whole. Without a SET clause, so that it
-- is inlined.
create or replace function register.staged_row(s register.statistical_unit_staging)
  returns register.statistical_unit_row
  language sql immutable
as $$
  select row(
            s.hash_slot, s.is_only, s.used_for_counting, s.unit_id, s.valid_from, s.valid_until, s.next_from,
            s.unit_type, s.birth_date, s.death_date, s.primary_activity_category_id, s.secondary_activity_category_id,
            s.sector_id, s.legal_form_id, s.physical_region_id, s.physical_country_id, s.unit_size_id, s.status_id,
            s.moments, s.value_counts, s.name, s.physical_address_part1, s.physical_address_part2,
            s.physical_address_part3, s.physical_postcode, s.physical_postplace, s.postal_region_id,
            s.postal_country_id, s.data_source_ids, s.has_legal_unit, s.primary_legal_unit_id,
            s.primary_establishment_id, s.last_edit_at, s.physical_latitude, s.physical_longitude, s.physical_altitude,
            s.related_establishment_ids, s.excluded_establishment_ids, s.included_establishment_ids,
            s.related_legal_unit_ids, s.excluded_legal_unit_ids, s.included_legal_unit_ids,
            s.related_enterprise_ids, s.excluded_enterprise_ids, s.included_enterprise_ids, s.stat_values,
            s.postal_address_part1, s.postal_address_part2, s.postal_address_part3, s.postal_postcode,
            s.postal_postplace, s.web_address, s.email_address, s.phone_number, s.landline, s.mobile_number,
            s.fax_number, s.last_edit_by, s.last_edit_comment
  )::register.statistical_unit_row;
$$;
