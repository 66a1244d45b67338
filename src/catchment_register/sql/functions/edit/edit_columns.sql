-- edit_columns: what an edit may name: the word, the table, the type of the detail, the column there, and which codes
-- it takes. The words are those of import files; statistics and identifiers are named by their codes.
create or replace function register.edit_columns()
  returns table (word text, table_name text, type text, column_name text, kind text)
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select c.* from (values
    ('name', 'unit', null, 'name', 'name'), ('short_name', 'unit', null, 'short_name', 'short_name'),
    ('birth_date', 'unit', null, 'birth_date', 'date'), ('death_date', 'unit', null, 'death_date', 'date'),
    ('sector_code', 'unit', null, 'sector_id', 'sector'),
    ('legal_form_code', 'unit', null, 'legal_form_id', 'legal_form'),
    ('status_code', 'unit', null, 'status_id', 'status'), ('unit_size_code', 'unit', null, 'unit_size_id', 'unit_size'),
    ('data_source_code', 'unit', null, 'data_source_id', 'data_source'),
    ('primary_activity_category_code', 'activity', 'primary', 'category_id', 'activity'),
    ('secondary_activity_category_code', 'activity', 'secondary', 'category_id', 'activity'),
    ('web_address', 'contact', null, 'web_address', null), ('email_address', 'contact', null, 'email_address', null),
    ('phone_number', 'contact', null, 'phone_number', null), ('landline', 'contact', null, 'landline', null),
    ('mobile_number', 'contact', null, 'mobile_number', null), ('fax_number', 'contact', null, 'fax_number', null),
    ('physical_latitude', 'location', 'physical', 'latitude', 'latitude'),
    ('physical_longitude', 'location', 'physical', 'longitude', 'longitude'),
    ('physical_altitude', 'location', 'physical', 'altitude', 'altitude'))
    as c (word, table_name, type, column_name, kind)
  union all
  select t.type || '_' || c.word, 'location', t.type, c.column_name, c.kind
    from (values ('physical'), ('postal')) as t (type)
   cross join (values ('address_part1', 'address_part1', null), ('address_part2', 'address_part2', null),
                      ('address_part3', 'address_part3', null), ('postcode', 'postcode', null),
                      ('postplace', 'postplace', null), ('region_code', 'region_id', 'region'),
                      ('country_iso_2', 'country_id', 'country'))
              as c (word, column_name, kind);
$$;
