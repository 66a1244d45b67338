-- region_problem: what is wrong with a region of an address: it lies abroad. Regions are those of the home country, and
-- without one anything goes. Null if nothing is wrong. Made to be inlined.
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
