-- hold_merged: tasks that were folded into one that is retried wait for its fate again. Returns how many.
--
--   failed | cancelled -> pending
--   locks   their outcome rows
create or replace function worker.hold_merged(p_task_id bigint)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  with again as (
    delete from worker.outcome as o where o.merged_into = p_task_id returning o.id
  )
  insert into worker.blocked (id, reason, wait_id, queue_id, kind, tier, band, rank, place)
  select t.id, 'merged', p_task_id, t.queue_id, t.kind, case when t.parent_id is null then 1 else 0 end, t.priority, 1,
         t.place
    from again as a
    join worker.task as t on t.id = a.id;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
