-- task_cleanup: handler of the command of that name. Deletes settled trees by the age of their root: completed ones
-- after completed_days (7), failed and cancelled ones after failed_days (30), at most batch (10000) roots a run; it
-- asks for another run when there may be more.
create or replace procedure worker.task_cleanup(
  p_payload     jsonb,
  inout p_info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch integer := coalesce((p_payload ->> 'batch')::integer, 10000);
  v_count integer;
begin
  v_count := worker.delete_settled(
    worker.now() - make_interval(days => coalesce((p_payload ->> 'completed_days')::integer, 7)),
    worker.now() - make_interval(days => coalesce((p_payload ->> 'failed_days')::integer, 30)),
    v_batch);
  if v_count >= v_batch then
    perform worker.enqueue('task_cleanup', p_payload);
  end if;
  p_info := jsonb_build_object('deleted_trees', v_count);
end;
$$;
