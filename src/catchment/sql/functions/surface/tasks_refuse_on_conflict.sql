-- tasks_refuse_on_conflict: a bare ON CONFLICT DO NOTHING would be ignored by the view in silence, so it is refused.
create or replace function worker.tasks_refuse_on_conflict()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if current_query() ~* 'insert\s+into\s+"?worker"?\."?tasks"?[^;]*\son\s+conflict' then
    raise exception using
      errcode = 'CM007',
      message = 'INSERT INTO worker.tasks takes no ON CONFLICT',
      hint = 'Declare it once: worker.command_registry.dedup says which pending tasks are the same, merge how they combine.';
  end if;
  return null;
end;
$$;
