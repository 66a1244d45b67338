-- length_problem: what is wrong with a text that may have so many characters; null if nothing is. Made to be inlined.
create or replace function register.length_problem(
  p_text  text,
  p_most  integer
)
  returns text
  language sql immutable parallel safe
as $$
  select case when length(p_text) > p_most then 'is longer than ' || p_most || ' characters' end;
$$;
