-- guard_primary: require that at most one row of the same owner is primary on any day. Arguments are pairs of the flag
-- and the column that says to whom a row belongs. Rows of one owner are serialised by the owner's row, which
-- guard_parent locks.
--
--   raises  RG005 two units are primary at the same time
--   plan    no_jit, indexed, hashed
create or replace function register.guard_primary()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_owners integer[];
  v_wrong  record;
begin
  for i in 0 .. tg_nargs - 1 by 2 loop
    execute format(
      'select array_agg(s.%3$I)
         from (select o.%3$I from register.%1$I as o
                where o.%3$I = any (array(select c.%3$I from changed as c where c.%2$I)) and o.%2$I
                group by o.%3$I
               having count(*) > 1) as s', tg_table_name, tg_argv[i], tg_argv[i + 1]) into v_owners;
    continue when v_owners is null;

    execute format(
      'select s.*
         from (select o.%3$I as owner_id, o.id, o.valid_from,
                      lag(o.id) over w as before_id, lag(o.valid_until) over w as before_until
                 from register.%1$I as o
                where o.%3$I = any ($1) and o.%2$I
               window w as (partition by o.%3$I order by o.valid_from)) as s
        where s.before_until > s.valid_from
        limit 1', tg_table_name, tg_argv[i], tg_argv[i + 1]) into v_wrong using v_owners;
    if v_wrong.id is not null then
      raise exception using
        errcode = 'RG005',
        message = format('%s %s and %s both have %s for %s %s from %s', tg_table_name, v_wrong.before_id, v_wrong.id,
                         tg_argv[i], tg_argv[i + 1], v_wrong.owner_id, v_wrong.valid_from),
        hint = 'Take the flag from the other one for that time, in the same statement or before.';
    end if;
  end loop;
  return null;
end;
$$;
