-- calendar_day: the day, or null if there is no such day. make_date would raise.
create or replace function register.calendar_day(
  p_year   integer,
  p_month  integer,
  p_day    integer
)
  returns date
  language sql immutable parallel safe
as $$
  select case
           when p_year < 1 or p_month not between 1 and 12 or p_day < 1 then null
           when p_day <= 28 then make_date(p_year, p_month, p_day)
           when p_day <= extract(day from make_date(p_year, p_month, 1) + interval '1 month' - interval '1 day')
             then make_date(p_year, p_month, p_day)
         end;
$$;
