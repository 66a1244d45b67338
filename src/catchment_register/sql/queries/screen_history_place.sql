-- The same within a region, an activity and a sector; null: not chosen. Each period is read by itself, by its index.
with period as materialized (
  select h.year, h.month
    from register.statistical_history_row as h
   where h.unit_type = %(unit_type)s
     and h.resolution = %(resolution)s
     and h.year >= %(first_year)s
     and (h.month is null or h.year > %(first_year)s or h.month >= %(first_month)s)
)
select p.year, p.month, coalesce(s.stock, 0) as stock, coalesce(s.births, 0) as births, coalesce(s.deaths, 0) as deaths
  from period as p
 cross join lateral (
   select sum(f.countable_count) as stock, sum(f.births) as births, sum(f.deaths) as deaths
     from (
    select (h.measures).countable_count, (h.measures).births, (h.measures).deaths
      from register.statistical_history_facet_row as h
     where h.resolution = 'year' and h.year = p.year and p.month is null
       and h.unit_type = %(unit_type)s
       and register.is_shown('statistical_history_facet')
       and (%(region)s::text is null or h.physical_region_path = %(region)s
            or starts_with(h.physical_region_path, %(region)s || '.'))
       and (%(activity)s::text is null or h.primary_activity_category_path = %(activity)s
            or starts_with(h.primary_activity_category_path, %(activity)s || '.'))
       and (%(sector)s::text is null or h.sector_path = %(sector)s or starts_with(h.sector_path, %(sector)s || '.'))
    union all
    select (h.measures).countable_count, (h.measures).births, (h.measures).deaths
      from register.statistical_history_facet_row as h
     where h.resolution = 'year-month' and h.year = p.year and h.month = p.month
       and h.unit_type = %(unit_type)s
       and register.is_shown('statistical_history_facet')
       and (%(region)s::text is null or h.physical_region_path = %(region)s
            or starts_with(h.physical_region_path, %(region)s || '.'))
       and (%(activity)s::text is null or h.primary_activity_category_path = %(activity)s
            or starts_with(h.primary_activity_category_path, %(activity)s || '.'))
       and (%(sector)s::text is null or h.sector_path = %(sector)s or starts_with(h.sector_path, %(sector)s || '.'))
     ) as f
 ) as s
 order by p.year, p.month;
