-- unknown_code: the problem of a code that is in no list; null without a problem. Made to be inlined.
create or replace function register.unknown_code(
  p_what  text,
  p_code  text,
  p_id    integer
)
  returns text
  language sql immutable parallel safe
as $$
  select case when p_code is not null and p_id is null then 'the ' || p_what || ' ' || p_code || ' is not known' end;
$$;
