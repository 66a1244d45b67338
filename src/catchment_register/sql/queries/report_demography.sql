-- Births and deaths by year, and how many of those born in a year are there today.
with born as (
  select extract(year from u.birth_date)::integer as year, count(distinct u.unit_id) as born,
         count(distinct u.unit_id) filter (where u.valid_from <= t.today and u.valid_until > t.today
                                           and u.birth_date <= t.today
                                             and coalesce(u.death_date > t.today, true)) as alive
    from register.statistical_unit as u
   cross join (select register.today() as today) as t
   where u.unit_type = %(unit_type)s
     and u.used_for_counting
   group by extract(year from u.birth_date)
)
select h.year, h.countable_count, h.births, h.deaths, h.births - h.deaths as natural_change,
       round(100.0 * h.births / nullif(h.countable_count, 0), 1) as birth_rate_pct,
       round(100.0 * h.deaths / nullif(h.countable_count, 0), 1) as death_rate_pct,
       b.born as born_then, b.alive as alive_today, round(100.0 * b.alive / b.born, 1) as survival_pct
  from register.statistical_history as h
  left join born as b on b.year = h.year
 where h.unit_type = %(unit_type)s
   and h.resolution = 'year'
 order by h.year;
