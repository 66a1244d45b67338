-- unit_cells: rows of units as reports see them. p_source: all that are published; of these, the types of the scratch
-- table wanted_facet, or the wanted units of wanted_unit; or changes, what flushes took away (sign -1) and added (+1).
--
-- A birth is known by its month: periods end with months, so that comparing months is exact. One from before the year
-- in which the row begins is none in any period of the row and delays nothing: it is omitted, so that more rows look
-- the same. Inlined, therefore without a SET clause. Its parts have the same types: else each row is copied once more.
--
--   reads   pg_temp.wanted_facet, pg_temp.wanted_unit
create or replace function register.unit_cells(
  p_source      text,
  p_from_flush  bigint,
  p_to_flush    bigint,
  p_slots       int4multirange
)
  returns table (
    flush_id bigint, sign smallint, unit_type text, unit_id integer, valid_from date, valid_until date, next_from date,
    is_only boolean, birth_key date, death_key date, used_for_counting boolean, primary_activity_category_id integer,
    secondary_activity_category_id integer, sector_id integer, legal_form_id integer, physical_region_id integer,
    physical_country_id integer, unit_size_id integer, status_id integer, name text, address_key text,
    moments register.moment[], value_counts jsonb
  )
  language sql stable
as $$
  select s.flush_id, s.sign, s.unit_type, s.unit_id, s.valid_from, s.valid_until, s.next_from, s.is_only,
         case when s.birth_date >= date_trunc('year', s.valid_from::timestamp)
              then date_trunc('month', s.birth_date::timestamp)::date end,
         date_trunc('month', s.death_date::timestamp)::date,
         s.used_for_counting, s.primary_activity_category_id, s.secondary_activity_category_id, s.sector_id,
         s.legal_form_id, s.physical_region_id, s.physical_country_id, s.unit_size_id, s.status_id, s.name,
         row(s.physical_address_part1, s.physical_address_part2, s.physical_address_part3, s.physical_postcode,
             s.physical_postplace)::text,
         s.moments, s.value_counts
    from (
      select 0::bigint as flush_id, 1::smallint as sign, r.unit_type, r.unit_id, r.valid_from, r.valid_until,
             r.next_from, r.is_only, r.birth_date, r.death_date, r.used_for_counting, r.primary_activity_category_id,
             r.secondary_activity_category_id, r.sector_id, r.legal_form_id, r.physical_region_id,
             r.physical_country_id, r.unit_size_id, r.status_id, r.name, r.physical_address_part1,
             r.physical_address_part2, r.physical_address_part3, r.physical_postcode, r.physical_postplace, r.moments,
             r.value_counts
        from register.statistical_unit_row as r
       where (p_source = 'all' and p_slots @> r.hash_slot::integer)
          or (p_source = 'types' and r.unit_type = any (array(select w.unit_type from pg_temp.wanted_facet as w)))
      union all
      select 0::bigint, 1::smallint, r.unit_type, r.unit_id, r.valid_from, r.valid_until, r.next_from,
             r.is_only, r.birth_date, r.death_date, r.used_for_counting, r.primary_activity_category_id,
             r.secondary_activity_category_id, r.sector_id, r.legal_form_id, r.physical_region_id,
             r.physical_country_id, r.unit_size_id, r.status_id, r.name, r.physical_address_part1,
             r.physical_address_part2, r.physical_address_part3, r.physical_postcode, r.physical_postplace, r.moments,
             r.value_counts
        from pg_temp.wanted_unit as w
        join register.statistical_unit_row as r on r.unit_type = w.unit_type and r.unit_id = w.unit_id
       where p_source = 'wanted'
      union all
      select c.flush_id, c.sign, c.unit_type, c.unit_id, c.valid_from, c.valid_until, c.next_from,
             c.is_only, c.birth_date, c.death_date, c.used_for_counting, c.primary_activity_category_id,
             c.secondary_activity_category_id, c.sector_id, c.legal_form_id, c.physical_region_id,
             c.physical_country_id, c.unit_size_id, c.status_id, c.name, c.physical_address_part1,
             c.physical_address_part2, c.physical_address_part3, c.physical_postcode, c.physical_postplace, c.moments,
             c.value_counts
        from register.statistical_unit_change as c
       where p_source = 'changes'
         and c.flush_id > p_from_flush
         and c.flush_id <= p_to_flush
         and p_slots @> c.hash_slot::integer
    ) as s;
$$;
