-- input_keys: translate problems by columns of the register into problems by columns of the file, which the user has to
-- fix. A constant of the mapping, and a column that the file does not have, keep our name.
create or replace function register.input_keys(
  p_problems  jsonb,
  p_columns   jsonb
)
  returns jsonb
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_object_agg(coalesce(p_columns -> p.key ->> 'input', p.key), p.value) from jsonb_each(p_problems) as p;
$$;
