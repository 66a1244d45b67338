-- The same within a region, an activity and a sector; null: not chosen.
select h.year, h.month, sum((h.measures).countable_count) as stock, sum((h.measures).births) as births,
       sum((h.measures).deaths) as deaths
  from register.statistical_history_facet_row as h
 where h.unit_type = %(unit_type)s
   and h.resolution = %(resolution)s
   and h.year >= %(first_year)s
   and (%(region)s::text is null or h.physical_region_path = %(region)s
        or starts_with(h.physical_region_path, %(region)s || '.'))
   and (%(activity)s::text is null or h.primary_activity_category_path = %(activity)s
        or starts_with(h.primary_activity_category_path, %(activity)s || '.'))
   and (%(sector)s::text is null or h.sector_path = %(sector)s or starts_with(h.sector_path, %(sector)s || '.'))
 group by h.year, h.month
 order by h.year, h.month;
