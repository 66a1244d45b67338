-- unknown_code: what to say about a code that a row has and no list knows; null if there is nothing to say. Made to be
-- inlined.
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
