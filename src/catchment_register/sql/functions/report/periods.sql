-- periods: the years and months that have a day from p_from to p_to.
create or replace function register.periods(
  p_from  date,
  p_to    date
)
  returns setof register.period
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select s.resolution, extract(year from d.first_day)::smallint,
         case s.resolution when 'year-month' then extract(month from d.first_day)::smallint end,
         d.first_day, (d.first_day + s.step)::date - 1, (d.first_day - s.step)::date, d.first_day - 1
    from (values ('year', 'year', interval '1 year'), ('year-month', 'month', interval '1 month'))
         as s (resolution, unit, step)
   cross join lateral (
     select g.day::date as first_day
       from generate_series(date_trunc(s.unit, p_from::timestamp), p_to::timestamp, s.step) as g (day)
   ) as d;
$$;
