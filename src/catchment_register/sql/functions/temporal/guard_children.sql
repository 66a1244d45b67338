-- guard_children: require that shortened and deleted units still cover what belongs to them. Each argument is a table
-- and the column by which its rows belong. Rows without validity need a slice at any time.
--
-- locks   nothing more: the changed slices are locked by their change, and a session that adds a child locks them first
--           (guard_parent)
--   raises  RG003 other rows depend on the row in that period; RG007 the transaction is not read committed
--   plan    no_jit, indexed, hashed
create or replace function register.guard_children()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids     integer[];
  v_gone    integer[];
  v_child   text;
  v_column  text;
  v_dates   boolean;
  v_wrong   text;
begin
  perform register.require_read_committed();
  execute format(
    'with unit as materialized (
       select p.id, p.valid_from, p.valid_until from register.%1$I as p
        where p.id = any (array(select c.id from changed as c))
     )
     select array_agg(distinct c.id),
            array_agg(distinct c.id) filter (where not exists (select from unit as u where u.id = c.id))
       from changed as c
      where not exists (select from unit as u
                         where u.id = c.id and u.valid_from = c.valid_from and u.valid_until = c.valid_until)',
                         tg_table_name)
    into v_ids, v_gone;
  if v_ids is null then
    return null;
  end if;

  for i in 0 .. tg_nargs - 1 by 2 loop
    v_child := tg_argv[i];
    v_column := tg_argv[i + 1];
    v_dates := exists (select from register.temporal_table as t where t.table_name = v_child);
    execute format(
      case when v_dates then
        'select register.slice_text(%2$L, k.%2$I, k.valid_from, k.valid_until)
           from register.%1$I as k
          where %4$s k.%2$I = any ($1)
            and not exists (select from register.%3$I as p
                             where p.id = k.%2$I and p.valid_from <= k.valid_from and k.valid_until <= p.valid_until)
            and not coalesce((select range_agg(daterange(p.valid_from, p.valid_until)) from register.%3$I as p
                               where p.id = k.%2$I)
                             @> daterange(k.valid_from, k.valid_until), false)
          limit 1'
      else
        'select format(''%2$s %%s'', k.%2$I) from register.%1$I as k where %4$s k.%2$I = any ($2) limit 1'
      end, v_child, v_column, tg_table_name,
      case when v_column = 'establishment_id' then 'k.legal_unit_id is null and' end)
      into v_wrong
      using v_ids, v_gone;
    if v_wrong is not null then
      raise exception using
        errcode = 'RG003',
        message = format('%s still has %s with %s', tg_table_name, v_child, v_wrong),
        hint = format('Shorten or delete the %s in the same statement or before.', v_child);
    end if;
  end loop;
  return null;
end;
$$;
