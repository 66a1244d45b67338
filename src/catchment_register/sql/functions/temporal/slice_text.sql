-- slice_text: a row for a message: legal_unit_id 17 from 2020-01-01 until infinity.
create or replace function register.slice_text(
  p_column       text,
  p_id           integer,
  p_valid_from   date,
  p_valid_until  date
)
  returns text
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select format('%s %s from %s until %s', p_column, p_id, p_valid_from, p_valid_until);
$$;
