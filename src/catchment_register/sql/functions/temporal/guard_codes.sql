-- guard_codes: require that each changed row refers to existing codes. Arguments are pairs of a column and the list it
-- names. Lists are only added to, so nothing has to be locked.
--
--   raises  RG004 the code is not in its list
--   plan    no_jit
create or replace function register.guard_codes()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_columns text;
  v_tests   text;
  v_wrong   text;
begin
  -- Each list by itself: to plan a join of all lists takes longer than to read them.
  select string_agg(format('c.%I', a.name), ', '),
         string_agg(format(' when c.%1$I is not null and not exists (select from register.%2$I as t where t.id = '
                           'c.%1$I) then format(''%1$s %%s is not in %2$s'', c.%1$I)', a.name, tg_argv[a.n]),
                           '' order by a.n)
    into v_columns, v_tests
    from unnest(tg_argv) with ordinality as a (name, n)
   where a.n % 2 = 1;
  -- Many rows have few combinations of codes.
  execute format('select w.wrong from (select case %s end as wrong from (select distinct %s from changed as c) as c) '
                 'as w where w.wrong is not null limit 1', v_tests, v_columns) into v_wrong;
  if v_wrong is not null then
    raise exception using
      errcode = 'RG004',
      message = format('%s: %s', tg_table_name, v_wrong),
      hint = 'Add the code to its list first: catchment register load-codes.';
  end if;
  return null;
end;
$$;
