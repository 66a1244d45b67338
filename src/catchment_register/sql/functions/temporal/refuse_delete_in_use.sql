-- refuse_delete_in_use: refuse to delete a row that others refer to. Arguments are pairs of a table and the column that
-- refers to this one. The deleted rows are locked by their deletion, and a session that names one locks it first.
--
--   raises  RG006 other rows refer to the row; RG007 the transaction is not read committed
--   plan    no_jit
create or replace function register.refuse_delete_in_use()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids   integer[];
  v_wrong integer;
begin
  perform register.require_read_committed();
  select array_agg(c.id) into v_ids from changed as c;
  if v_ids is null then
    return null;
  end if;
  for i in 0 .. tg_nargs - 1 by 2 loop
    execute format('select k.%2$I from register.%1$I as k where %3$s k.%2$I = any ($1) limit 1', tg_argv[i],
                   tg_argv[i + 1],
                   -- The index of owners begins with the units that have slices.
                   case when tg_argv[i] in ('external_ident', 'tag_for_unit', 'unit_notes')
                        then 'k.legal_unit_id is null and k.establishment_id is null and' end)
       into v_wrong
      using v_ids;
    if v_wrong is not null then
      raise exception using
        errcode = 'RG006',
        message = format('%s %s is in use: %s names it', tg_table_name, v_wrong, tg_argv[i]),
        hint = format('Delete or change the %s first.', tg_argv[i]);
    end if;
  end loop;
  return null;
end;
$$;
