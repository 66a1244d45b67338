-- release_task: release a claimed task that has not started. It uses no attempt and keeps its place.
--
--   processing -> pending
--   locks   see settle
--   raises  CM001 the claim was lost
create or replace function worker.release_task(
  p_task_id  bigint,
  p_fence    bigint
)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_state text;
begin
  select s.state into v_state from worker.settle(array[p_task_id], array[p_fence], array['released']) as s;
  if not found then
    perform worker.raise_fenced(p_task_id, p_fence);
  end if;
  return v_state;
end;
$$;
