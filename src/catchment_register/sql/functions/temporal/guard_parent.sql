-- guard_parent: require that each changed row lies within the period of its owner. Arguments are pairs of a column and
-- the table it names: slices of a legal unit or an establishment must cover the row's validity, without a hole; of
-- another table the row must exist. Rows are sought by one array of ids and joined by hash: a third of the time of a
-- probe for each row.
--
--   locks   the parents' rows, by id: sessions that add slices to one parent take turns, and a parent does
--           not shrink meanwhile
--   raises  RG002 the unit that the row belongs to does not cover its period; RG007 the transaction is not read
--           committed
--   plan    no_jit, indexed, hashed
create or replace function register.guard_parent()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_column  text;
  v_parent  text;
  v_slices  boolean;
  v_is_open boolean;
  v_wrong   text;
begin
  perform register.require_read_committed();
  for i in 0 .. tg_nargs - 1 by 2 loop
    v_column := tg_argv[i];
    v_parent := tg_argv[i + 1];
    v_slices := v_parent in ('legal_unit', 'establishment');
    -- The hash takes in all parents, so all are locked, whatever the count.
    execute format(
      'with parent as materialized (
         select p.id %3$s from register.%1$I as p
          where p.id = any (array(select c.%2$I from changed as c where c.%2$I is not null))
          order by p.id for no key update
       )
       select count(*) > 0
         from changed as c
        where c.%2$I is not null
          and not exists (select from parent as p where p.id = c.%2$I %4$s)',
      v_parent, v_column,
      case when v_slices then ', p.valid_from, p.valid_until' end,
      case when v_slices then 'and p.valid_from <= c.valid_from and c.valid_until <= p.valid_until' end)
      into v_is_open;
    continue when not v_is_open;

    -- Several slices may cover the row together, and some may have been committed while we waited.
    execute format(
      case when v_slices then
        'select register.slice_text(%1$L, c.%1$I, c.valid_from, c.valid_until)
           from changed as c
          where c.%1$I is not null
            and not coalesce((select range_agg(daterange(p.valid_from, p.valid_until)) from register.%2$I as p
                               where p.id = c.%1$I)
                             @> daterange(c.valid_from, c.valid_until), false)
          limit 1'
      else
        'select format(''%1$s %%s'', c.%1$I)
           from changed as c
          where c.%1$I is not null
            and not exists (select from register.%2$I as p where p.id = c.%1$I)
          limit 1'
      end, v_column, v_parent) into v_wrong;
    if v_wrong is not null then
      raise exception using
        errcode = 'RG002',
        message = format('%s with %s has no %s that covers it', tg_table_name, v_wrong, v_parent),
        hint = format('Make or extend the %s first, or shorten the row.', v_parent);
    end if;
  end loop;
  return null;
end;
$$;
