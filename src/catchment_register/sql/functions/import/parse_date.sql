-- parse_date: a day as files write it: 2026-02-13, 13.02.2026, 13-02-2026 or infinity. Null for anything else, also for
-- a day that no calendar has. Most days are in every month, and are made at once.
create or replace function register.parse_date(p_text text)
  returns date
  language sql immutable parallel safe
as $$
  select case
           when p_text ~ '^[1-9][0-9]{3}-(0[1-9]|1[0-2])-([01][1-9]|10|2[0-8])$'
             then make_date(left(p_text, 4)::integer, substr(p_text, 6, 2)::integer, right(p_text, 2)::integer)
           when p_text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'
             then register.calendar_day(left(p_text, 4)::integer, substr(p_text, 6, 2)::integer,
                                        right(p_text, 2)::integer)
           when p_text ~ '^[0-9]{2}[.-][0-9]{2}[.-][0-9]{4}$'
             then register.calendar_day(right(p_text, 4)::integer, substr(p_text, 4, 2)::integer,
                                        left(p_text, 2)::integer)
           when p_text = 'infinity' then 'infinity'::date
         end;
$$;
