-- refuse_open_scope_delete: refuse to delete an open scope.
--
--   raises  CM023 a child has not settled
create or replace function worker.refuse_open_scope_delete()
  returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'CM023', message = format('task %s waits for its children: its scope cannot be deleted', old.id);
end;
$$;
