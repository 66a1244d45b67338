-- check_most: refuses a limit of rows to look at that PostgreSQL would refuse without its name, or take as none.
--
--   raises  CM018 an option has an invalid value
create or replace function worker.check_most(p_most integer)
  returns void
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_most is null or p_most < 1 then
    raise exception using
      errcode = 'CM018',
      message = format('p_most is %s, expected a number from 1', coalesce(p_most::text, 'null'));
  end if;
end;
$$;
