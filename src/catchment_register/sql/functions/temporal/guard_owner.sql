-- guard_owner: require that a changed row without validity belongs to an existing unit. Arguments are pairs of a column
-- and the table it names.
--
--   locks   the owners' rows against their deletion, by id
--   raises  RG002 the unit that the row belongs to does not cover its period; RG007 the transaction is not read
--           committed
--   plan    no_jit, indexed, hashed
create or replace function register.guard_owner()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_missing boolean;
  v_wrong   integer;
begin
  perform register.require_read_committed();
  for i in 0 .. tg_nargs - 1 by 2 loop
    execute format(
      'with owner as materialized (
         select p.id from register.%2$I as p where p.id = any (array(select c.%1$I from changed as c
                                                                      where c.%1$I is not null))
          order by p.id for key share
       )
       select count(*) > 0
         from changed as c
        where c.%1$I is not null
          and not exists (select from owner as p where p.id = c.%1$I)', tg_argv[i], tg_argv[i + 1]) into v_missing;
    continue when not v_missing;

    execute format(
      'select c.%1$I from changed as c
        where c.%1$I is not null
          and not exists (select from register.%2$I as p where p.id = c.%1$I)
        limit 1', tg_argv[i], tg_argv[i + 1]) into v_wrong;
    if v_wrong is not null then
      raise exception using
        errcode = 'RG002',
        message = format('%s names %s %s, which does not exist', tg_table_name, tg_argv[i], v_wrong),
        hint = format('Make the %s first.', tg_argv[i + 1]);
    end if;
  end loop;
  return null;
end;
$$;
