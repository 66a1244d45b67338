-- coordinate_problem: the problem of a latitude, longitude or altitude as entered; null without a problem. Made to be
-- inlined.
create or replace function register.coordinate_problem(
  p_kind  text,
  p_text  text
)
  returns text
  language sql immutable parallel safe
as $$
  select case when p_text is not null
                   and (abs(register.parse_number(p_text))
                        <= case p_kind when 'latitude' then 90 when 'longitude' then 180 else 99998 end) is not true
              then p_text || ' is no ' || p_kind end;
$$;
