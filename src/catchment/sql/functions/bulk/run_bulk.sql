-- run_bulk: handler of the commands bulk_retry and bulk_cancel. Only start_bulk makes such tasks: the right to enqueue
-- tasks does not include retrying or cancelling those of others.
--
--   raises  CM019 the arguments do not fit the command
create or replace procedure worker.run_bulk(
  p_payload     jsonb,
  inout p_info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_task_id bigint := worker.current_task_id();
begin
  if not exists (select from worker.bulk as b where b.task_id = v_task_id) then
    raise exception using
      errcode = 'CM019',
      message = format('task %s was not made by worker.start_bulk', v_task_id),
      hint = 'Call worker.start_bulk, which needs the role catchment_worker.';
  end if;
  perform worker.spawn_child('bulk_batch', jsonb_build_object('bulk', p_payload -> 'bulk'));
end;
$$;
