-- record_warning: record a problem with a task that does not change its state, such as a hook that raised.
create or replace function worker.record_warning(
  p_task_id  bigint,
  p_source   text,
  p_message  text
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into worker.warning (task_id, at, source, message)
  values (p_task_id, worker.now(), p_source, left(p_message, 10000));
  raise warning 'task %, %: %', p_task_id, case p_source when 'worker' then p_source else p_source || ' hook' end,
                left(p_message, 10000);
end;
$$;
