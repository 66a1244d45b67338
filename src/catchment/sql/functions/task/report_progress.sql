-- report_progress: a running task reports its progress.
--
--   locks   the running row
--   raises  CM001 the claim was lost
create or replace function worker.report_progress(
  p_task_id   bigint,
  p_fence     bigint,
  p_progress  jsonb
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update worker.running as r set progress = p_progress where r.id = p_task_id and r.fence = p_fence;
  if not found then
    perform worker.raise_fenced(p_task_id, p_fence);
  end if;
end;
$$;
