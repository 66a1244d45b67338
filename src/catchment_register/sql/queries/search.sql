-- Units that an identifier names exactly or that are written like legal_unit/17, those they describe, then those whose
-- names have all words, the last of them perhaps not to its end, then those with this number; without a text, all that
-- the filters let through. The newest row of each unit, or the one of a day.
--
-- Only names of establishments and legal units are indexed. Most enterprises and groups are called as one of their
-- units is, so they are found by way of these; those with their own name are few.
with named as materialized (
  select r.unit_type, r.unit_id, r.related_enterprise_ids
    from register.statistical_unit_row as r
   where register.is_shown('statistical_unit')
     and numnode(register.name_query(%(text)s)) > 0
     and register.name_words(r.name) @@ register.name_query(%(text)s)
     and r.unit_type in ('establishment', 'legal_unit')
   -- A word of nearly every name: nobody reads them all, and some are found at once.
   limit 10000
),
holder as materialized (
  select case when e.legal_unit_id is not null then 'legal_unit'
              when e.establishment_id is not null then 'establishment'
              when e.enterprise_id is not null then 'enterprise' else 'power_group' end as unit_type,
         coalesce(e.legal_unit_id, e.establishment_id, e.enterprise_id, e.power_group_id) as unit_id
    from register.external_ident as e
   where e.type_id = any (array(select t.id from register.external_ident_type as t))
     and e.ident = %(text)s
     and e.person_id is null
),
wider as (
  select distinct 'enterprise' as unit_type, e.id as unit_id
    from named as n
   cross join lateral unnest(n.related_enterprise_ids) as e (id)
  union
  select 'enterprise', e.id
    from register.enterprise as e
   where numnode(register.name_query(%(text)s)) > 0
     and e.short_name is not null
     and register.name_words(e.short_name) @@ register.name_query(%(text)s)
  union
  select 'power_group', r.derived_power_group_id
    from register.legal_relationship as r
   where r.influencing_id = any (array(select n.unit_id from named as n where n.unit_type = 'legal_unit'))
      or r.influenced_id = any (array(select n.unit_id from named as n where n.unit_type = 'legal_unit'))
  union
  select 'power_group', p.id
    from register.power_group as p
   where num_nonnulls(p.name, p.short_name) > 0
),
found as (
  select h.unit_type, h.unit_id, 0 as place from holder as h
  union all
  select 'power_group', p.id, 0 from register.power_group as p where p.ident = upper(%(text)s)
  union all
  select split_part(%(text)s, '/', 1), w.unit_id, 0
    from (select case when %(text)s ~ '^(legal_unit|establishment|enterprise|power_group)/[0-9]{1,9}$'
                      then split_part(%(text)s, '/', 2)::integer end as unit_id) as w
   where w.unit_id is not null
  union all
  select t.unit_type, w.unit_id, 3
    from (select case when %(text)s ~ '^[0-9]{1,9}$' then %(text)s::integer end as unit_id) as w
   cross join unnest(array['legal_unit', 'establishment', 'enterprise', 'power_group']) as t (unit_type)
   where w.unit_id is not null
  union all
  select r.unit_type, r.unit_id, 1
    from (select distinct h.unit_type, h.unit_id, e.id as enterprise_id
            from holder as h
            join register.statistical_unit_row as o on o.unit_type = h.unit_type and o.unit_id = h.unit_id
           cross join lateral unnest(o.related_enterprise_ids) as e (id)) as h
    join register.statistical_unit_row as r on r.unit_type = 'enterprise' and r.unit_id = h.enterprise_id
   where case h.unit_type when 'legal_unit' then r.primary_legal_unit_id else r.primary_establishment_id end = h.unit_id
  union all
  select n.unit_type, n.unit_id, 2 from named as n
  union all
  select w.unit_type, w.unit_id, 2
    from wider as w
    join register.statistical_unit_row as r on r.unit_type = w.unit_type and r.unit_id = w.unit_id
   where numnode(register.name_query(%(text)s)) > 0
     and register.name_words(r.name) @@ register.name_query(%(text)s)
),
unit as materialized (
  select f.unit_type, f.unit_id, min(f.place) as place from found as f group by f.unit_type, f.unit_id
),
fitting as not materialized (
  select r.unit_type, r.unit_id, r.valid_from, r.name
    from register.statistical_unit_row as r
   where register.is_shown('statistical_unit')
     and case when %(at)s::date is null then r.next_from = 'infinity' else r.valid_from <= %(at)s
              and r.valid_until > %(at)s end
     and (%(unit_type)s::text is null or r.unit_type = %(unit_type)s)
     and (%(region)s::text is null
          or r.physical_region_id = any (array(select g.id from register.region as g
                                                where g.path = %(region)s or starts_with(g.path, %(region)s || '.'))))
     and (%(activity)s::text is null
          or array[r.primary_activity_category_id, r.secondary_activity_category_id]
             && array(select a.id from register.activity_category as a
                       where a.path = %(activity)s or starts_with(a.path, %(activity)s || '.')))
     and (%(sector)s::text is null
          or r.sector_id = any (array(select s.id from register.sector as s
                                       where s.path = %(sector)s or starts_with(s.path, %(sector)s || '.'))))
),
picked as materialized (
  select p.*
    from (select f.*, u.place from unit as u join fitting as f on f.unit_type = u.unit_type and f.unit_id = u.unit_id
          union all
          select f.*, 0 from fitting as f where %(text)s = '') as p
   order by p.place, p.name, p.unit_type, p.unit_id
   limit %(limit)s
)
select n.unit_type, n.unit_id,
       coalesce(n.external_idents ->> (select t.code from register.external_ident_type as t order by t.priority
                                        limit 1),
                case when n.unit_type = 'power_group'
                     then (select g.ident from register.power_group as g where g.id = n.unit_id) end) as ident,
       n.name, n.physical_region_path as region, n.primary_activity_category_code as activity, n.sector_code as sector,
       (n.stats_summary -> 'employees' ->> 'sum')::numeric as employees, n.status_code as status,
       coalesce(n.related_enterprise_ids[1], case when n.unit_type = 'enterprise' then n.unit_id end) as enterprise_id,
       n.valid_from, n.valid_to
  from picked as p
 cross join lateral (
   select s.* from register.statistical_unit as s
    where s.unit_type = p.unit_type and s.unit_id = p.unit_id and s.valid_from = p.valid_from
    -- What the view looks up is looked up for these rows alone.
    limit 1
 ) as n
 order by p.place, p.name, p.unit_type, p.unit_id;
