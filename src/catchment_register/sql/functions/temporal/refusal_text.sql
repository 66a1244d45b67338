-- refusal_text: the message of a table rule, by the name of the constraint or of the column that lacks a value. Null
-- for other constraints: then the database's message is used.
create or replace function register.refusal_text(
  p_constraint  text,
  p_column      text default null
)
  returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (select r.says
       from (values
         ('.*_short_name_is_short', 'a short name has at most 16 characters'),
         ('.*_name_has_a_length', 'a name has 1 to 256 characters'),
         ('.*_dies_after_birth', 'the death is before the birth'),
         ('.*_in_years_1_to_9999', 'a day is outside of 0001-01-01 to 9999-12-30'),
         ('.*_has_one_owner', 'this belongs to exactly one unit'),
         ('.*_(primary_for_legal_unit|primary_for_enterprise)', 'a unit is primary only for what it belongs to'),
         ('legal_relationship_is_of_two', 'a unit cannot influence itself'),
         ('legal_relationship_is_percentage', 'a percentage is above 0, at most 100'),
         ('establishment_sector_informal', 'an establishment of a legal unit cannot have its own sector'),
         ('activity_type_is_known', 'an activity is primary, secondary or ancilliary'),
         ('location_type_is_known', 'an address is physical or postal'),
         ('location_coordinates_physical', 'a postal address has no coordinates'),
         ('location_latitude_range', 'a latitude is from -90 to 90'),
         ('location_longitude_range', 'a longitude is from -180 to 180'),
         ('contact_has_something', 'a contact says how a unit is reached'),
         ('stat_has_one_value', 'a statistic has one value'),
         ('stat_is_a_number', 'the value of a statistic is a finite number'),
         ('external_ident_has_a_length', 'an identifier has 1 to 50 characters'),
         ('external_ident_pkey', 'another unit has this identifier'),
         ('external_ident_owner', 'the unit has another identifier of this type'),
         ('.*_valid', 'the last day is before the first one')) as r (name, says)
      where p_constraint ~ ('^' || r.name || '$')
      limit 1),
    case nullif(p_column, '') when 'country_id' then 'an address needs a country'
                              else replace(regexp_replace(nullif(p_column, ''), '_id$', ''), '_', ' ') || ' is needed'
    end);
$$;
