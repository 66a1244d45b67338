-- tasks_delete: refuse DELETE: history is deleted by retention, and work is cancelled.
--
--   raises  CM007 worker.tasks does not accept this write
create or replace function worker.tasks_delete()
  returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'CM007',
    message = format('task %s cannot be deleted from worker.tasks', old.id),
    hint = 'Use worker.cancel for work that should not run; the command task_cleanup deletes settled tasks.';
end;
$$;
