-- check_units: published units among themselves and against base data.
--
--   plan    no_jit, memory_128
create or replace function register.check_units()
  returns table (rule text, detail text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select 'rows of a unit do not overlap', format('%s %s from %s', r.unit_type, r.unit_id, r.valid_from)
    from (select u.*, lead(u.valid_from) over w as following,
                 count(*) over (partition by u.unit_type, u.unit_id) as rows
            from register.statistical_unit_row as u
          window w as (partition by u.unit_type, u.unit_id order by u.valid_from)) as r
   where r.following < r.valid_until
      or r.next_from is distinct from coalesce(r.following, 'infinity')
      or r.is_only <> (r.rows = 1)
  union all
  select 'a published unit exists', format('%s %s', u.unit_type, u.unit_id)
    from (select distinct r.unit_type, r.unit_id from register.statistical_unit_row as r) as u
   where case u.unit_type
           when 'establishment' then not exists (select from register.establishment as e where e.id = u.unit_id)
           when 'legal_unit'    then not exists (select from register.legal_unit as l where l.id = u.unit_id)
           when 'enterprise'    then not exists (select from register.enterprise as e where e.id = u.unit_id)
           when 'power_group'   then not exists (select from register.power_group as p where p.id = u.unit_id)
         end
     and not exists (select from register.base_change_log)
  union all
  select 'a unit is published', format('%s %s', b.unit_type, b.id)
    from (select distinct 'establishment' as unit_type, e.id from register.establishment as e
          union all
          select distinct 'legal_unit', l.id from register.legal_unit as l
          union all
          select 'enterprise', e.id from register.enterprise as e
           where exists (select from register.legal_unit as l where l.enterprise_id = e.id)
              or exists (select from register.establishment as s where s.enterprise_id = e.id)) as b
   where not exists (select from register.statistical_unit_row as r where r.unit_type = b.unit_type
                        and r.unit_id = b.id)
     and not exists (select from register.base_change_log)
     and not exists (select from register.round as o where o.state = 'open')
  union all
  select 'a row is in the slot of its facet', format('%s %s from %s', r.unit_type, r.unit_id, r.valid_from)
    from register.statistical_unit_row as r
   where r.hash_slot <> register.facet_slot(r.unit_type, r.primary_activity_category_id,
                                            r.secondary_activity_category_id, r.sector_id, r.legal_form_id,
                                            r.physical_region_id, r.physical_country_id, r.unit_size_id, r.status_id)
  union all
  select 'codes in use are counted', format('%s %s: %s, should be %s', coalesce(u.kind, n.kind),
                                            coalesce(u.code_id, n.code_id), coalesce(u.row_count, 0),
                                            coalesce(n.row_count, 0))
    from register.used_code as u
    full join (
      select c.kind, c.code_id, count(*) as row_count
        from register.statistical_unit_row as r
       cross join lateral (
         values ('activity', r.primary_activity_category_id),
                ('activity', nullif(r.secondary_activity_category_id, r.primary_activity_category_id)),
                ('region', r.physical_region_id), ('region', nullif(r.postal_region_id, r.physical_region_id)),
                ('sector', r.sector_id), ('legal_form', r.legal_form_id), ('country', r.physical_country_id),
                ('country', nullif(r.postal_country_id, r.physical_country_id))
         union all
         select 'data_source', s from unnest(r.data_source_ids) as s
       ) as c (kind, code_id)
       where c.code_id is not null
       group by c.kind, c.code_id
    ) as n on n.kind = u.kind and n.code_id = u.code_id
   where u.row_count is distinct from n.row_count
     and register.is_shown('statistical_unit');
$$;
