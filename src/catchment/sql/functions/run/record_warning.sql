-- record_warning: something that went wrong beside a task and changes nothing about it.
create or replace function worker.record_warning(
  p_task_id  bigint,
  p_source   text,
  p_message  text
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  insert into worker.warning (task_id, at, source, message) values (p_task_id, worker.now(), p_source, left(p_message, 10000));
  raise warning 'task %, % hook: %', p_task_id, p_source, left(p_message, 10000);
end;
$$;
