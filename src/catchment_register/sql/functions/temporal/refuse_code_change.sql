-- refuse_code_change: refuse to delete codes, and to change what others rely on: ids, and the column that the trigger
-- names. Codes can be added and corrected.
--
--   raises  RG020 the row or column is fixed
create or replace function register.refuse_code_change()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'RG020',
    message = case tg_op when 'DELETE' then format('%s %s cannot be deleted', tg_table_name, old.id)
                         else format('%s of %s %s cannot be changed', coalesce(tg_argv[0], 'id'), tg_table_name,
                                     old.id) end,
    hint = 'Disable it (enabled = false) and add another one: past units still refer to it.';
end;
$$;
