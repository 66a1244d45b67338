-- Births and deaths by year, and the survival of units born in a year. A unit is counted by what is known about it
-- today: its latest birth and the death of its latest row, however often they were corrected. Units born before the
-- history begins are one row, without a year.
with unit as (
  select u.unit_id,
         (array_agg(u.birth_date order by u.valid_from desc) filter (where u.birth_date is not null))[1] as birth_date,
         (array_agg(u.death_date order by u.valid_from desc))[1] as death_date, max(u.valid_until) as valid_until,
         bool_or(u.used_for_counting) as counts, t.today
    from register.statistical_unit_row as u
   cross join (select register.today() as today) as t
   where register.is_shown('statistical_unit')
     and u.unit_type = %(unit_type)s
     and u.valid_from <= t.today
   group by u.unit_id, t.today
),
history as (
  select h.* from register.statistical_history as h where h.unit_type = %(unit_type)s and h.resolution = 'year'
),
cohort as (
  select case when u.birth_date >= make_date(f.year, 1, 1) then extract(year from u.birth_date)::integer end as year,
         count(*) as born,
         count(*) filter (where u.death_date <= u.today) as died,
         count(*) filter (where (u.death_date <= u.today) is not true and u.valid_until <= u.today) as ended
    from unit as u
   cross join (select min(h.year) as year from history as h) as f
   where u.counts
     and u.birth_date <= u.today
   group by 1
)
select coalesce(h.year, c.year) as year, h.countable_count, h.births, h.deaths, h.births - h.deaths as natural_change,
       round(100.0 * h.births / nullif(h.countable_count, 0), 1) as birth_rate_pct,
       round(100.0 * h.deaths / nullif(h.countable_count, 0), 1) as death_rate_pct,
       c.born as born_then, c.born - c.died as alive_today, c.ended as ended_alive,
       round(100.0 * (c.born - c.died) / c.born, 1) as survival_pct
  from history as h
  full join cohort as c on c.year = h.year
 order by 1 nulls first;
