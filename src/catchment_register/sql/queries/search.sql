-- Units that an identifier names exactly, then those whose names have all words, the last of them perhaps not to its end. The
-- newest row of each unit, or the one of a day.
with found as (
  select f.unit_type, f.unit_id, 0 as place
    from (select case when e.legal_unit_id is not null then 'legal_unit' when e.establishment_id is not null then 'establishment'
                      when e.enterprise_id is not null then 'enterprise' else 'power_group' end as unit_type,
                 coalesce(e.legal_unit_id, e.establishment_id, e.enterprise_id, e.power_group_id) as unit_id
            from register.external_ident as e
           where e.ident = %(text)s
             and e.person_id is null) as f
  union all
  select r.unit_type, r.unit_id, 1
    from register.statistical_unit_row as r
   where register.name_words(r.name) @@ to_tsquery('pg_catalog.simple', %(words)s)
     and r.unit_type in ('establishment', 'legal_unit')
     and %(words)s <> ''
),
unit as (
  select f.unit_type, f.unit_id, min(f.place) as place from found as f group by f.unit_type, f.unit_id
)
select n.unit_type, n.unit_id, n.external_idents ->> (select t.code from register.external_ident_type as t
                                                        order by t.priority limit 1) as ident,
       n.name, n.physical_region_path as region, n.primary_activity_category_code as activity, n.sector_code as sector,
       (n.stats_summary -> 'employees' ->> 'sum')::numeric as employees, n.status_code as status,
       coalesce(n.related_enterprise_ids[1], case when n.unit_type = 'enterprise' then n.unit_id end) as enterprise_id,
       n.valid_from, n.valid_to
  from unit as u
 cross join lateral (
   select s.*
     from register.statistical_unit as s
    where s.unit_type = u.unit_type
      and s.unit_id = u.unit_id
      and (%(at)s::date is null or s.valid_from <= %(at)s and s.valid_until > %(at)s)
    order by s.valid_from desc
    limit 1
 ) as n
 where (%(unit_type)s::text is null or n.unit_type = %(unit_type)s)
   and (%(region)s::text is null or n.physical_region_path = %(region)s
        or starts_with(n.physical_region_path, %(region)s || '.'))
   and (%(activity)s::text is null
        or exists (select from unnest(n.activity_category_paths) as a (path)
                    where a.path = %(activity)s or starts_with(a.path, %(activity)s || '.')))
   and (%(sector)s::text is null or n.sector_path = %(sector)s or starts_with(n.sector_path, %(sector)s || '.'))
 order by u.place, n.name, n.unit_type, n.unit_id
 limit %(limit)s;
