-- The chosen paths with all that they lie in, from the outside in, with their names of the current lists.
select c.dimension, p.path,
       case c.dimension
         when 'region'
           then (select r.name from register.region as r where r.path = p.path
                  order by r.version_id = (select s.region_version_id from register.settings as s) desc nulls last,
                           r.id desc
                  limit 1)
         when 'activity'
           then (select a.name from register.activity_category as a where a.path = p.path
                  order by a.standard_id = (select s.activity_category_standard_id from register.settings as s) desc
                           nulls last, a.id desc
                  limit 1)
         else (select s.name from register.sector as s where s.path = p.path)
       end as name
  from (values ('region', %(region)s::text), ('activity', %(activity)s), ('sector', %(sector)s)) as c (dimension, path)
 cross join lateral (select string_to_array(c.path, '.') as labels) as l
 cross join lateral generate_series(1, cardinality(l.labels)) as n (depth)
 cross join lateral (select array_to_string(l.labels[1 : n.depth], '.') as path) as p
 order by c.dimension, n.depth;
