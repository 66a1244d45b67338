-- refuse_on_conflict: the error of an INSERT with an ON CONFLICT clause that is not supported. Without a command: it
-- has a target.
--
--   raises  CM007 worker.tasks does not accept this write
create or replace function worker.refuse_on_conflict(p_command text default null)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'CM007',
    message = case
                when p_command is null then 'INSERT INTO worker.tasks takes no ON CONFLICT with a target'
                else format('INSERT INTO worker.tasks … ON CONFLICT DO NOTHING: command %s declares no dedup',
                            p_command)
              end,
    hint = 'Declare it once: worker.command_registry.dedup says which pending tasks are the same, merge how they '
           'combine. Then a plain INSERT, with or without ON CONFLICT DO NOTHING, joins the pending task.';
end;
$$;
