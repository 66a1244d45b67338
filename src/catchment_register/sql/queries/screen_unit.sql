-- The published rows of a unit in the order of time, up to a limit, with codes and names. An open end is null.
select u.valid_from, nullif(u.valid_to, 'infinity') as valid_to, u.name, nullif(u.birth_date, 'infinity') as birth_date,
       nullif(u.death_date, 'infinity') as death_date, u.physical_region_path as region,
       (select r.name from register.region as r where r.id = u.physical_region_id) as region_name,
       u.primary_activity_category_code as activity,
       (select a.name from register.activity_category as a where a.id = u.primary_activity_category_id)
         as activity_name,
       u.sector_code as sector, u.sector_name, u.legal_form_code as legal_form, u.legal_form_name,
       u.status_code as status, u.used_for_counting, u.unit_size_code as unit_size,
       u.external_idents as idents, u.stats_summary as stats,
       u.related_enterprise_ids[1] as enterprise_id, u.related_legal_unit_ids[1:20] as legal_unit_ids,
       u.included_legal_unit_ids[1:20] as included_legal_unit_ids,
       u.included_establishment_ids[1:20] as included_establishment_ids,
       u.included_legal_unit_count, u.included_establishment_count,
       u.last_edit_at, u.last_edit_by
  from register.statistical_unit as u
 where u.unit_type = %(unit_type)s
   and u.unit_id = %(unit_id)s
 order by u.valid_from
 limit %(most)s;
