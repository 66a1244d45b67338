-- Employees as the four derived tables have them: of a unit, its enterprise, its region, the country this month and
-- this year.
select f.what, f.employees::bigint as employees
  from (
    select 1 as n, 'the establishment' as what, (u.stats_summary -> 'employees' ->> 'sum')::numeric as employees
      from register.statistical_unit as u
     where u.unit_type = 'establishment' and u.unit_id = %(unit_id)s
       and u.valid_from <= register.today() and u.valid_until > register.today()
    union all
    select 2, 'its enterprise', (u.stats_summary -> 'employees' ->> 'sum')::numeric
      from register.statistical_unit as u
     where u.unit_type = 'enterprise' and u.unit_id = %(enterprise_id)s
       and u.valid_from <= register.today() and u.valid_until > register.today()
    union all
    select 3, 'all establishments of its region', sum((g.stats_summary -> 'employees' ->> 'sum')::numeric)
      from register.statistical_unit_facet as g
     where g.unit_type = 'establishment' and split_part(g.physical_region_path, '.', 1) = %(region_path)s
       and g.valid_from <= register.today() and g.valid_until > register.today()
    union all
    select 4, 'all establishments this month', sum((h.stats_summary -> 'employees' ->> 'sum')::numeric)
      from register.statistical_history_facet as h
     where h.unit_type = 'establishment' and h.resolution = 'year-month'
       and h.year = extract(year from register.today()) and h.month = extract(month from register.today())
    union all
    select 5, 'all establishments this year', (h.stats_summary -> 'employees' ->> 'sum')::numeric
      from register.statistical_history as h
     where h.unit_type = 'establishment' and h.resolution = 'year' and h.year = extract(year from register.today())
  ) as f
 order by f.n;
