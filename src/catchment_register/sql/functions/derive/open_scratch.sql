-- open_scratch: the temporary tables that a batch works in, made once in a session and empty at the start. They belong
-- to the session alone, so batches share nothing. None has an index: to empty one at commit would throw the plans of
-- its queries away. So would TRUNCATE, which is left to a transaction with several large batches.
--
--   reads   pg_temp.b_own, pg_temp.b_slice
--   writes  pg_temp.b_activity, pg_temp.b_contact, pg_temp.b_location, pg_temp.b_moment, pg_temp.b_own,
--           pg_temp.b_part, pg_temp.b_person, pg_temp.b_relation, pg_temp.b_row, pg_temp.b_segment, pg_temp.b_slice,
--           pg_temp.b_stat
create or replace function register.open_scratch()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_small constant bigint := 1048576;
begin
  if register.has_scratch('b_slice', 'b_activity', 'b_location', 'b_contact', 'b_stat', 'b_person', 'b_relation',
                          'b_segment', 'b_own', 'b_moment', 'b_part', 'b_row') then
    if pg_relation_size('pg_temp.b_own') > c_small then
      truncate pg_temp.b_slice, pg_temp.b_activity, pg_temp.b_location, pg_temp.b_contact, pg_temp.b_stat,
               pg_temp.b_person, pg_temp.b_relation, pg_temp.b_segment, pg_temp.b_own, pg_temp.b_moment, pg_temp.b_part,
               pg_temp.b_row;
    elsif exists (select from pg_temp.b_slice) then
      delete from pg_temp.b_slice;
      delete from pg_temp.b_activity;
      delete from pg_temp.b_location;
      delete from pg_temp.b_contact;
      delete from pg_temp.b_stat;
      delete from pg_temp.b_person;
      delete from pg_temp.b_relation;
      delete from pg_temp.b_segment;
      delete from pg_temp.b_own;
      delete from pg_temp.b_moment;
      delete from pg_temp.b_part;
      delete from pg_temp.b_row;
    end if;
    return;
  end if;
  create temporary table b_slice (
    unit_type text collate "C", unit_id integer, valid_from date, valid_until date, legal_unit_id integer,
    enterprise_id integer, is_primary boolean, name text, birth_date date, death_date date, sector_id integer,
    status_id integer, legal_form_id integer, unit_size_id integer, data_source_id integer, edit_at timestamptz,
    edit_by text, edit_comment text) on commit delete rows;
  create temporary table b_activity (
    unit_type text collate "C", unit_id integer, valid_from date, valid_until date, type text collate "C",
    category_id integer, data_source_id integer, edit_at timestamptz, edit_by text,
    edit_comment text) on commit delete rows;
  create temporary table b_location (
    unit_type text collate "C", unit_id integer, valid_from date, valid_until date, type text collate "C",
    address_part1 text, address_part2 text, address_part3 text, postcode text, postplace text, region_id integer,
    country_id integer, latitude numeric(9, 6), longitude numeric(9, 6), altitude numeric(6, 1), data_source_id integer,
    edit_at timestamptz, edit_by text, edit_comment text) on commit delete rows;
  create temporary table b_contact (
    unit_type text collate "C", unit_id integer, valid_from date, valid_until date, web_address text,
    email_address text, phone_number text, landline text, mobile_number text, fax_number text, edit_at timestamptz,
    edit_by text, edit_comment text)
    on commit delete rows;
  create temporary table b_stat (
    unit_type text collate "C", unit_id integer, valid_from date, valid_until date, stat_definition_id integer,
    number numeric, word text, shown jsonb, data_source_id integer, edit_at timestamptz, edit_by text,
    edit_comment text) on commit delete rows;
  create temporary table b_person (
    unit_type text collate "C", unit_id integer, valid_from date, valid_until date) on commit delete rows;
  create temporary table b_relation (
    power_group_id integer, influencing_id integer, influenced_id integer, valid_from date, valid_until date)
    on commit delete rows;

  -- Stretches of time in which nothing about a unit changes; of establishments and legal units, also where the next one
  -- begins and whether there is no other.
  create temporary table b_segment (
    unit_type text collate "C", unit_id integer, valid_from date, valid_until date, next_from date, is_only boolean)
    on commit delete rows;
  -- Establishments and legal units by segment, with what they say of themselves.
  create temporary table b_own (
    unit_type text collate "C", unit_id integer, valid_from date, valid_until date, next_from date, is_only boolean,
    legal_unit_id integer, enterprise_id integer, is_primary boolean, name text, birth_date date, death_date date,
    primary_activity_category_id integer, secondary_activity_category_id integer, sector_id integer,
    legal_form_id integer, unit_size_id integer, status_id integer, used_for_counting boolean,
    data_source_ids integer[], physical_address_part1 text, physical_address_part2 text, physical_address_part3 text,
    physical_postcode text, physical_postplace text, physical_region_id integer, physical_country_id integer,
    physical_latitude numeric(9, 6), physical_longitude numeric(9, 6), physical_altitude numeric(6, 1),
    postal_address_part1 text, postal_address_part2 text, postal_address_part3 text, postal_postcode text,
    postal_postplace text, postal_region_id integer, postal_country_id integer, web_address text,
    email_address text, phone_number text, landline text, mobile_number text, fax_number text, last_edit_at timestamptz,
    last_edit_by text, last_edit_comment text, stat_values jsonb) on commit delete rows;
  -- Statistics by variable, of what a unit says itself (own) and of what it includes; of words, one row for each.
  create temporary table b_moment (
    unit_type text collate "C", unit_id integer, valid_from date, stat_definition_id integer, word text, n bigint,
    total numeric, squares numeric, least numeric, most numeric) on commit delete rows;
  -- Which rows of smaller units a row of a larger one is made from; is_direct: not through another one of them.
  create temporary table b_part (
    unit_type text collate "C", unit_id integer, valid_from date, part_type text collate "C", part_id integer,
    part_from date, counts boolean, is_direct boolean, is_primary boolean, enterprise_id integer) on commit delete rows;
  -- Enterprises and power groups by segment, and which row of a smaller unit describes them.
  create temporary table b_row (
    unit_type text collate "C", unit_id integer, valid_from date, valid_until date, source_type text collate "C",
    source_id integer, source_from date, name text, used_for_counting boolean, primary_legal_unit_id integer,
    primary_establishment_id integer, edit_at timestamptz, edit_by text, edit_comment text) on commit delete rows;
end;
$$;
