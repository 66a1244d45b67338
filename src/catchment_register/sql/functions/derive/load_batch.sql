-- load_batch: copy into scratch all slices of the given legal units and of their establishments, of the establishments
-- that belong to the given enterprises directly, and the details of all these. Ids as arrays in order: each table is
-- reached by its index, regardless of its statistics.
--
--   writes  pg_temp.b_activity, pg_temp.b_contact, pg_temp.b_location, pg_temp.b_person, pg_temp.b_slice,
--           pg_temp.b_stat
--   plan    no_jit, generic, indexed
create or replace function register.load_batch(
  p_enterprise_ids  integer[],
  p_legal_unit_ids  integer[]
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_establishments integer[] := array(
    select e.id from register.establishment as e where e.legal_unit_id = any (p_legal_unit_ids)
     union
    select e.id from register.establishment as e where e.enterprise_id = any (p_enterprise_ids)
     order by 1);
begin
  insert into pg_temp.b_slice
  select 'legal_unit', u.id, u.valid_from, u.valid_until, null, u.enterprise_id, u.primary_for_enterprise, u.name,
         u.birth_date, u.death_date, u.sector_id, u.status_id, u.legal_form_id, u.unit_size_id, u.data_source_id,
         u.edit_at, u.edit_by, u.edit_comment
    from register.legal_unit as u
   where u.id = any (p_legal_unit_ids)
  union all
  select 'establishment', e.id, e.valid_from, e.valid_until, e.legal_unit_id, e.enterprise_id,
         coalesce(e.primary_for_legal_unit, e.primary_for_enterprise), e.name, e.birth_date, e.death_date, e.sector_id,
         e.status_id, null, e.unit_size_id, e.data_source_id, e.edit_at, e.edit_by, e.edit_comment
    from register.establishment as e
   where e.id = any (v_establishments);

  insert into pg_temp.b_activity
  select 'legal_unit', a.legal_unit_id, a.valid_from, a.valid_until, a.type, a.category_id, a.data_source_id, a.edit_at,
         a.edit_by, a.edit_comment
    from register.activity as a
   where a.legal_unit_id = any (p_legal_unit_ids)
  union all
  select 'establishment', a.establishment_id, a.valid_from, a.valid_until, a.type, a.category_id, a.data_source_id,
         a.edit_at, a.edit_by, a.edit_comment
    from register.activity as a
   where a.legal_unit_id is null and a.establishment_id = any (v_establishments);

  insert into pg_temp.b_location
  select 'legal_unit', l.legal_unit_id, l.valid_from, l.valid_until, l.type, l.address_part1, l.address_part2,
         l.address_part3, l.postcode, l.postplace, l.region_id, l.country_id, l.latitude, l.longitude, l.altitude,
         l.data_source_id, l.edit_at, l.edit_by, l.edit_comment
    from register.location as l
   where l.legal_unit_id = any (p_legal_unit_ids)
  union all
  select 'establishment', l.establishment_id, l.valid_from, l.valid_until, l.type, l.address_part1, l.address_part2,
         l.address_part3, l.postcode, l.postplace, l.region_id, l.country_id, l.latitude, l.longitude, l.altitude,
         l.data_source_id, l.edit_at, l.edit_by, l.edit_comment
    from register.location as l
   where l.legal_unit_id is null and l.establishment_id = any (v_establishments);

  insert into pg_temp.b_contact
  select 'legal_unit', c.legal_unit_id, c.valid_from, c.valid_until, c.web_address, c.email_address, c.phone_number,
         c.landline, c.mobile_number, c.fax_number, c.edit_at, c.edit_by, c.edit_comment
    from register.contact as c
   where c.legal_unit_id = any (p_legal_unit_ids)
  union all
  select 'establishment', c.establishment_id, c.valid_from, c.valid_until, c.web_address, c.email_address,
         c.phone_number, c.landline, c.mobile_number, c.fax_number, c.edit_at, c.edit_by, c.edit_comment
    from register.contact as c
   where c.legal_unit_id is null and c.establishment_id = any (v_establishments);

  insert into pg_temp.b_stat
  select case when v.legal_unit_id is null then 'establishment' else 'legal_unit' end,
         coalesce(v.legal_unit_id, v.establishment_id), v.valid_from, v.valid_until, v.stat_definition_id,
         coalesce(v.value_int::numeric, v.value_float::numeric), coalesce(v.value_string, v.value_bool::text),
         coalesce(to_jsonb(v.value_int), to_jsonb(v.value_float), to_jsonb(v.value_string), to_jsonb(v.value_bool)),
         v.data_source_id, v.edit_at, v.edit_by, v.edit_comment
    from (select s.* from register.stat_for_unit as s where s.legal_unit_id = any (p_legal_unit_ids)
          union all
          select s.* from register.stat_for_unit as s
           where s.legal_unit_id is null and s.establishment_id = any (v_establishments)) as v;

  insert into pg_temp.b_person
  select 'legal_unit', p.legal_unit_id, p.valid_from, p.valid_until
    from register.person_for_unit as p
   where p.legal_unit_id = any (p_legal_unit_ids)
  union all
  select 'establishment', p.establishment_id, p.valid_from, p.valid_until
    from register.person_for_unit as p
   where p.legal_unit_id is null and p.establishment_id = any (v_establishments);
end;
$$;
