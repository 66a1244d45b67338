-- report_through: the last day that reports made on p_today speak of: the end of its month. Inlined, therefore without
-- a SET clause.
create or replace function register.report_through(p_today date)
  returns date
  language sql immutable
as $$
  select (date_trunc('month', p_today::timestamp) + interval '1 month' - interval '1 day')::date;
$$;
