-- parse_number: a number as files write it: digits with a decimal point, perhaps a sign or an exponent. Null for
-- anything else.
create or replace function register.parse_number(p_text text)
  returns numeric
  language sql immutable parallel safe
as $$
  select case when length(p_text) <= 100 and p_text ~ '^[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9][0-9]?)?$'
                then p_text::numeric end;
$$;
