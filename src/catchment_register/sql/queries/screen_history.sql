-- Stock, births and deaths of a type of unit by period, the last ones, in the order of time.
select h.year, h.month, (h.measures).countable_count as stock, (h.measures).births, (h.measures).deaths
  from register.statistical_history_row as h
 where h.unit_type = %(unit_type)s
   and h.resolution = %(resolution)s
   and h.year >= %(first_year)s
   and (h.month is null or h.year > %(first_year)s or h.month >= %(first_month)s)
 order by h.year, h.month;
