-- The history of a type of unit, in the order of time.
select h.year || coalesce(to_char(h.month, '"-"FM00'), '') as period, h.*
  from register.statistical_history as h
 where h.unit_type = %(unit_type)s
   and h.resolution = %(resolution)s
   and (%(first_year)s::integer is null or h.year >= %(first_year)s)
   and (%(last_year)s::integer is null or h.year <= %(last_year)s)
 order by h.year, h.month;
