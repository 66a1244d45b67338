-- history_facet_key: a unit type and its eight dimensions as one value that is equal exactly when all of these are,
-- missing ones included. No path holds the separator. Inlined, therefore without a SET clause.
create or replace function register.history_facet_key(
  p_unit_type                         text,
  p_primary_activity_category_path    text,
  p_secondary_activity_category_path  text,
  p_sector_path                       text,
  p_legal_form_id                     integer,
  p_physical_region_path              text,
  p_physical_country_id               integer,
  p_unit_size_id                      integer,
  p_status_id                         integer
)
  returns uuid
  language sql immutable parallel safe
as $$
  select md5(p_unit_type || '|' || coalesce(p_primary_activity_category_path, '') || '|'
             || coalesce(p_secondary_activity_category_path, '') || '|' || coalesce(p_sector_path, '') || '|'
             || coalesce(p_legal_form_id::text, '') || '|' || coalesce(p_physical_region_path, '') || '|'
             || coalesce(p_physical_country_id::text, '') || '|' || coalesce(p_unit_size_id::text, '') || '|'
             || coalesce(p_status_id::text, ''))::uuid;
$$;
