-- guard_column: the code of an enabled statistic or type of identifiers is a column of import files that nothing else
-- has. For each row.
--
--   raises  RG016 the code is a column of import files
create or replace function register.guard_column()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := register.column_problem(tg_table_name, new.code);
begin
  if v_problem is not null then
    raise exception using
      errcode = 'RG016',
      message = format('%s cannot have the code %s: %s', tg_table_name, new.code, v_problem),
      hint = 'Choose another code.';
  end if;
  return null;
end;
$$;
