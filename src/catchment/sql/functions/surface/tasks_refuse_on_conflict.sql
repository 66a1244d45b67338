-- tasks_refuse_on_conflict: a bare ON CONFLICT DO NOTHING would be ignored by the view in silence, so it is refused. What is
-- quoted does not count, nor what belongs to another INSERT of the same statement.
create or replace function worker.tasks_refuse_on_conflict()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_query text := current_query();
begin
  if v_query ~* 'on\s+conflict' then
    v_query := regexp_replace(v_query, '\$(\w*)\$.*?\$\1\$', '''''', 'g');
    v_query := regexp_replace(v_query, '''([^'']|'''')*''', '''''', 'g');
    if v_query ~* 'insert\s+into\s+("?worker"?\s*\.\s*)?"?tasks"?\y((?!insert\s+into)[^;])*\son\s+conflict' then
      raise exception using
        errcode = 'CM007',
        message = 'INSERT INTO worker.tasks takes no ON CONFLICT',
        hint = 'Declare it once: worker.command_registry.dedup says which pending tasks are the same, merge how they combine.';
    end if;
  end if;
  return null;
end;
$$;
