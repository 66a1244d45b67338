-- location_country: the country of an address whose editor named none: the one it has on that day or later, else the
-- home country.
create or replace function register.location_country(
  p_owner    text,
  p_unit_id  integer,
  p_type     text,
  p_at       date
)
  returns integer
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (select l.country_id from register.location as l
      where l.type = p_type
        and l.valid_until > p_at
        and (p_owner = 'legal_unit_id' and l.legal_unit_id = p_unit_id
             or p_owner = 'establishment_id' and l.legal_unit_id is null and l.establishment_id = p_unit_id)
      order by l.valid_from
      limit 1),
    (select s.country_id from register.settings as s));
$$;
