-- Counted units of a type on a day within chosen places, as unit_facet_drilldown has them but without statistics: one
-- row for each path one label deeper than the chosen one, by dimension, most units first; and one for all of them.
with place as materialized (
  select f.physical_region_path as region, f.primary_activity_category_path as activity, f.sector_path as sector,
         sum(f.count) as count
    from register.statistical_unit_facet_row as f
   where f.unit_type = %(unit_type)s
     and f.valid_from <= %(at)s
     and f.valid_until > %(at)s
     and (%(region)s::text is null or f.physical_region_path = %(region)s
          or starts_with(f.physical_region_path, %(region)s || '.'))
     and (%(activity)s::text is null or f.primary_activity_category_path = %(activity)s
          or starts_with(f.primary_activity_category_path, %(activity)s || '.'))
     and (%(sector)s::text is null or f.sector_path = %(sector)s or starts_with(f.sector_path, %(sector)s || '.'))
   group by f.physical_region_path, f.primary_activity_category_path, f.sector_path
),
path as (
  select 'region' as dimension, p.region as path, %(region)s::text as chosen, sum(p.count) as count
    from place as p where p.region is not null group by p.region
  union all
  select 'activity', p.activity, %(activity)s, sum(p.count) from place as p where p.activity is not null
   group by p.activity
  union all
  select 'sector', p.sector, %(sector)s, sum(p.count) from place as p where p.sector is not null group by p.sector
),
step as (
  select p.dimension, array_to_string(l.labels[1 : d.depth + 1], '.') as path, sum(p.count) as count,
         bool_or(cardinality(l.labels) > d.depth + 1) as has_children
    from path as p
   cross join lateral (select string_to_array(p.path, '.') as labels) as l
   cross join lateral (select coalesce(cardinality(string_to_array(p.chosen, '.')), 0) as depth) as d
   where cardinality(l.labels) > d.depth
   group by p.dimension, array_to_string(l.labels[1 : d.depth + 1], '.')
)
select s.dimension, s.path, s.count::bigint, s.has_children,
       case s.dimension
         when 'region'
           then (select r.name from register.region as r where r.path = s.path
                  order by r.version_id = (select t.region_version_id from register.settings as t) desc nulls last,
                           r.id desc
                  limit 1)
         when 'activity'
           then (select a.name from register.activity_category as a where a.path = s.path
                  order by a.standard_id = (select t.activity_category_standard_id from register.settings as t) desc
                           nulls last, a.id desc
                  limit 1)
         else (select c.name from register.sector as c where c.path = s.path)
       end as name
  from step as s
union all
select 'all', null, coalesce(sum(p.count), 0)::bigint, false, null from place as p
 order by 3 desc, 2;
