-- guard_codes: each changed row names codes that exist. Arguments are pairs of a column and the list it names. Lists are only added
-- to, so nothing has to be locked.
--
--   raises  RG004 when a code is missing
create or replace function register.guard_codes()
  returns trigger
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
declare
  v_columns text;
  v_joins   text := '';
  v_tests   text := '';
  v_names   text := '';
  v_wrong   text;
begin
  select string_agg(format('c.%I', a.name), ', ') into v_columns
    from unnest(tg_argv) with ordinality as a (name, n)
   where a.n % 2 = 1;
  for i in 0 .. tg_nargs - 1 by 2 loop
    v_joins := v_joins || format(' left join register.%2$I as t%3$s on t%3$s.id = c.%1$I', tg_argv[i], tg_argv[i + 1], i);
    v_tests := v_tests || format(' or c.%1$I is not null and t%2$s.id is null', tg_argv[i], i);
    v_names := v_names || format(' when c.%1$I is not null and t%3$s.id is null then format(''%1$s %%s is not in %2$s'', c.%1$I)',
                                 tg_argv[i], tg_argv[i + 1], i);
  end loop;
  -- Many rows have few combinations of codes.
  execute format('select case %s end from (select distinct %s from changed as c) as c %s where false %s limit 1',
                 v_names, v_columns, v_joins, v_tests) into v_wrong;
  if v_wrong is not null then
    raise exception using
      errcode = 'RG004',
      message = format('%s: %s', tg_table_name, v_wrong),
      hint = 'Add the code to its list first: catchment register load-codes.';
  end if;
  return null;
end;
$$;
