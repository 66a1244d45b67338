-- unit_facet_key: validity, unit type and six dimensions as one value that is equal exactly when all of these are,
-- missing ones included. Days count from 2000-01-01, which no setting of a session changes; the open end is its own
-- word. Inlined, therefore without a SET clause.
create or replace function register.unit_facet_key(
  p_valid_from                      date,
  p_valid_until                     date,
  p_unit_type                       text,
  p_physical_region_path            text,
  p_primary_activity_category_path  text,
  p_sector_path                     text,
  p_legal_form_id                   integer,
  p_physical_country_id             integer,
  p_status_id                       integer
)
  returns uuid
  language sql immutable parallel safe
as $$
  select md5((p_valid_from - date '2000-01-01')::text || '|'
             || case when isfinite(p_valid_until) then (p_valid_until - date '2000-01-01')::text else 'open' end || '|'
             || p_unit_type || '|' || coalesce(p_physical_region_path, '') || '|'
             || coalesce(p_primary_activity_category_path, '') || '|' || coalesce(p_sector_path, '') || '|'
             || coalesce(p_legal_form_id::text, '') || '|' || coalesce(p_physical_country_id::text, '') || '|'
             || coalesce(p_status_id::text, ''))::uuid;
$$;
