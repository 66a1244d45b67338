-- region_problem: the problem of a region of an address abroad. Regions are those of the home country; without a home
-- country any region is allowed. Null without a problem. Made to be inlined.
create or replace function register.region_problem(
  p_region      text,
  p_country     text,
  p_country_id  integer,
  p_home_id     integer
)
  returns text
  language sql immutable parallel safe
as $$
  select case when p_region is not null and p_country_id <> p_home_id
              then 'the region ' || p_region || ' is given for the foreign country ' || p_country end;
$$;
