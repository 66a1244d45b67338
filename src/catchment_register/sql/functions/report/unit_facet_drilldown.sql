-- unit_facet_drilldown: counted units of a type on a day, within chosen places of six dimensions (null: not chosen), as
-- JSON: their number, their statistics, and for each dimension what can be chosen next, with numbers: children of the
-- chosen path, or codes.
--
--   plan    no_jit
create or replace function register.unit_facet_drilldown(
  p_unit_type                       text,
  p_at                              date,
  p_physical_region_path            text default null,
  p_primary_activity_category_path  text default null,
  p_sector_path                     text default null,
  p_legal_form_id                   integer default null,
  p_physical_country_id             integer default null,
  p_status_id                       integer default null
)
  returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with matched as materialized (
    select f.*
      from register.statistical_unit_facet_row as f
     where f.unit_type = p_unit_type
       and f.valid_from <= p_at
       and f.valid_until > p_at
       and (p_physical_region_path is null or f.physical_region_path = p_physical_region_path
            or starts_with(f.physical_region_path, p_physical_region_path || '.'))
       and (p_primary_activity_category_path is null
            or f.primary_activity_category_path = p_primary_activity_category_path
            or starts_with(f.primary_activity_category_path, p_primary_activity_category_path || '.'))
       and (p_sector_path is null or f.sector_path = p_sector_path or starts_with(f.sector_path, p_sector_path || '.'))
       and (p_legal_form_id is null or f.legal_form_id = p_legal_form_id)
       and (p_physical_country_id is null or f.physical_country_id = p_physical_country_id)
       and (p_status_id is null or f.status_id = p_status_id)
  ),
  step as (
    -- Each path one label deeper than the chosen one; units at the chosen place itself have none.
    select d.dimension, array_to_string(d.labels[1 : d.depth + 1], '.') as path, sum(d.count) as count,
           bool_or(cardinality(d.labels) > d.depth + 1) as has_children
      from (
        select v.dimension, string_to_array(v.path, '.') as labels,
               coalesce(cardinality(string_to_array(v.chosen, '.')), 0) as depth, m.count
          from matched as m
         cross join lateral (values ('physical_region', m.physical_region_path, p_physical_region_path),
                                    ('primary_activity_category', m.primary_activity_category_path,
                                     p_primary_activity_category_path),
                                    ('sector', m.sector_path, p_sector_path)) as v (dimension, path, chosen)
      ) as d
     where cardinality(d.labels) > d.depth
     group by d.dimension, array_to_string(d.labels[1 : d.depth + 1], '.')
  ),
  named as (
    select s.dimension, s.path as key, s.count, s.has_children,
           case s.dimension
             when 'physical_region'
               then (select r.name from register.region as r where r.path = s.path
                      order by r.version_id = (select t.region_version_id from register.settings as t) desc nulls last,
                               r.id desc
                      limit 1)
             when 'primary_activity_category'
               then (select a.name from register.activity_category as a where a.path = s.path
                      order by a.standard_id = (select t.activity_category_standard_id from register.settings as t) desc
                               nulls last, a.id desc
                      limit 1)
             else (select c.name from register.sector as c where c.path = s.path)
           end as name
      from step as s
    union all
    select 'legal_form', l.code, sum(m.count), false, l.name
      from matched as m join register.legal_form as l on l.id = m.legal_form_id group by l.code, l.name
    union all
    select 'physical_country', c.iso_2, sum(m.count), false, c.name
      from matched as m join register.country as c on c.id = m.physical_country_id group by c.iso_2, c.name
    union all
    select 'status', s.code, sum(m.count), false, s.name
      from matched as m join register.status as s on s.id = m.status_id group by s.code, s.name
  ),
  moment as (
    select array_agg(row(s.stat_definition_id, s.n, s.total, s.squares, s.min, null, s.max, null)::register.moment
                     order by s.stat_definition_id) as moments
      from (
        select m.stat_definition_id, sum(m.n)::bigint as n, sum(m.total) as total, sum(m.squares) as squares,
               min(m.min) as min, max(m.max) as max
          from matched as f
         cross join lateral unnest(f.moments) as m
         group by m.stat_definition_id
      ) as s
  ),
  word as (
    select jsonb_object_agg(v.variable, v.counts) as counts
      from (
        select w.variable, jsonb_object_agg(w.value, w.n) as counts
          from (
            select d.key as variable, c.key as value, sum(c.value::bigint) as n
              from matched as f
             cross join lateral jsonb_each(f.value_counts) as d
             cross join lateral jsonb_each_text(d.value) as c
             group by d.key, c.key
          ) as w
         group by w.variable
      ) as v
  )
  select jsonb_build_object(
           'unit_type', p_unit_type, 'at', p_at,
           'count', (select coalesce(sum(m.count), 0) from matched as m),
           'stats_summary', register.stats_summary((select m.moments from moment as m),
                                                   (select w.counts from word as w)),
           'next', (select coalesce(jsonb_object_agg(d.dimension, d.rows), '{}')
                      from (
                        select n.dimension, jsonb_agg(jsonb_build_object('key', n.key, 'name', n.name, 'count', n.count,
                                                                         'has_children', n.has_children)
                                                      order by n.count desc, n.key) as rows
                          from named as n
                         group by n.dimension
                      ) as d));
$$;
