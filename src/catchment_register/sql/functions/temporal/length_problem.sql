-- length_problem: the problem of a text that is longer than allowed; null if there is none. Made to be inlined:
-- therefore nothing in it depends on a setting, as a number does that is joined to a text.
create or replace function register.length_problem(
  p_text  text,
  p_most  integer
)
  returns text
  language sql immutable parallel safe
as $$
  select case when length(p_text) > p_most then 'is longer than ' || p_most::text || ' characters' end;
$$;
