-- refuse_truncate: refuse TRUNCATE, which would leave derived data behind and details without their owner.
--
--   raises  RG021 the table cannot be truncated
create or replace function register.refuse_truncate()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'RG021',
    message = format('%s cannot be truncated: nobody would learn what is gone', tg_table_name),
    hint = 'Use DELETE, details before units.';
end;
$$;
