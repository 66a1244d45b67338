-- statistical_unit: the published units as people read them. Codes, paths, names, identifiers and tags are looked up,
-- so that they are never older than their lists.
create or replace view register.statistical_unit as
select r.unit_type, r.unit_id, r.valid_from,
       case when r.valid_until = 'infinity' then r.valid_until else r.valid_until - 1 end as valid_to, r.valid_until,
       coalesce(
         case r.unit_type
           when 'legal_unit' then
             (select jsonb_object_agg(t.code, i.ident) from register.external_ident as i
                join register.external_ident_type as t on t.id = i.type_id where i.legal_unit_id = r.unit_id)
           when 'establishment' then
             (select jsonb_object_agg(t.code, i.ident) from register.external_ident as i
                join register.external_ident_type as t on t.id = i.type_id
               where i.legal_unit_id is null and i.establishment_id = r.unit_id)
           when 'enterprise' then
             (select jsonb_object_agg(t.code, i.ident) from register.external_ident as i
                join register.external_ident_type as t on t.id = i.type_id
               where i.legal_unit_id is null and i.establishment_id is null and i.enterprise_id = r.unit_id)
           when 'power_group' then
             (select jsonb_object_agg(t.code, i.ident) from register.external_ident as i
                join register.external_ident_type as t on t.id = i.type_id
               where i.legal_unit_id is null and i.establishment_id is null and i.enterprise_id is null
                 and i.power_group_id = r.unit_id)
         end,
         case when r.unit_type = 'enterprise' then
           coalesce((select jsonb_object_agg(t.code, i.ident) from register.external_ident as i
                       join register.external_ident_type as t on t.id = i.type_id
                      where i.legal_unit_id is null and i.establishment_id = r.primary_establishment_id),
                    (select jsonb_object_agg(t.code, i.ident) from register.external_ident as i
                       join register.external_ident_type as t on t.id = i.type_id
                      where i.legal_unit_id = r.primary_legal_unit_id))
         end,
         '{}') as external_idents,
       r.name, r.birth_date, r.death_date, register.name_words(r.name) as search,
       r.primary_activity_category_id, pa.path as primary_activity_category_path,
       pa.code as primary_activity_category_code, r.secondary_activity_category_id,
       sa.path as secondary_activity_category_path, sa.code as secondary_activity_category_code,
       nullif(array_remove(array[pa.path, sa.path], null), '{}') as activity_category_paths,
       r.sector_id, sc.path as sector_path, sc.code as sector_code, sc.name as sector_name,
       r.data_source_ids,
       (select array_agg(d.code order by d.id) from register.data_source as d where d.id = any (r.data_source_ids))
         as data_source_codes,
       r.legal_form_id, lf.code as legal_form_code, lf.name as legal_form_name,
       r.physical_address_part1, r.physical_address_part2, r.physical_address_part3, r.physical_postcode,
       r.physical_postplace, r.physical_region_id, pr.path as physical_region_path, pr.code as physical_region_code,
       r.physical_country_id, pc.iso_2 as physical_country_iso_2,
       r.physical_latitude, r.physical_longitude, r.physical_altitude,
       r.physical_country_id = (select s.country_id from register.settings as s) as domestic,
       r.postal_address_part1, r.postal_address_part2, r.postal_address_part3, r.postal_postcode, r.postal_postplace,
       r.postal_region_id, qr.path as postal_region_path, qr.code as postal_region_code,
       r.postal_country_id, qc.iso_2 as postal_country_iso_2,
       r.web_address, r.email_address, r.phone_number, r.landline, r.mobile_number, r.fax_number,
       r.unit_size_id, us.code as unit_size_code, r.status_id, st.code as status_code, r.used_for_counting,
       r.last_edit_at, r.last_edit_by, r.last_edit_comment, r.has_legal_unit,
       r.related_establishment_ids, r.excluded_establishment_ids, r.included_establishment_ids,
       r.related_legal_unit_ids, r.excluded_legal_unit_ids, r.included_legal_unit_ids,
       r.related_enterprise_ids, r.excluded_enterprise_ids, r.included_enterprise_ids,
       cardinality(r.included_establishment_ids) as included_establishment_count,
       cardinality(r.included_legal_unit_ids) as included_legal_unit_count,
       cardinality(r.included_enterprise_ids) as included_enterprise_count,
       coalesce((select jsonb_object_agg(d.code, jsonb_build_object('type', d.type, 'value', v.value))
                   from jsonb_each(r.stat_values) as v (id, value)
                   join register.stat_definition as d on d.id = v.id::integer), '{}') as stats,
       register.stats_summary(r.moments, r.value_counts) as stats_summary,
       case r.unit_type
         when 'legal_unit' then
           (select array_agg(g.path order by g.path) from register.tag_for_unit as t
              join register.tag as g on g.id = t.tag_id where t.legal_unit_id = r.unit_id)
         when 'establishment' then
           (select array_agg(g.path order by g.path) from register.tag_for_unit as t
              join register.tag as g
                on g.id = t.tag_id where t.legal_unit_id is null and t.establishment_id = r.unit_id)
         when 'enterprise' then
           (select array_agg(g.path order by g.path) from register.tag_for_unit as t
              join register.tag as g on g.id = t.tag_id
             where t.legal_unit_id is null and t.establishment_id is null and t.enterprise_id = r.unit_id)
         when 'power_group' then
           (select array_agg(g.path order by g.path) from register.tag_for_unit as t
              join register.tag as g on g.id = t.tag_id
             where t.legal_unit_id is null and t.establishment_id is null and t.enterprise_id is null
               and t.power_group_id = r.unit_id)
       end as tag_paths,
       r.hash_slot
  from register.statistical_unit_row as r
  left join register.activity_category as pa on pa.id = r.primary_activity_category_id
  left join register.activity_category as sa on sa.id = r.secondary_activity_category_id
  left join register.sector as sc on sc.id = r.sector_id
  left join register.legal_form as lf on lf.id = r.legal_form_id
  left join register.region as pr on pr.id = r.physical_region_id
  left join register.country as pc on pc.id = r.physical_country_id
  left join register.region as qr on qr.id = r.postal_region_id
  left join register.country as qc on qc.id = r.postal_country_id
  left join register.unit_size as us on us.id = r.unit_size_id
  left join register.status as st on st.id = r.status_id
 where register.is_shown('statistical_unit');
comment on view register.statistical_unit is
  'Establishments, legal units, enterprises and power groups, one row for each stretch of time in which nothing about '
  'them changes.';
