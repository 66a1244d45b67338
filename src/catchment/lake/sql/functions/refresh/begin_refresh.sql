-- begin_refresh: an attempt takes over a refresh. From now on no attempt with an older fence can publish it. The plan
-- of an earlier attempt is deleted, except with p_keep_plan: then the frontier it was made from stays that of the
-- refresh, so that what was computed by it is published onto that frontier or not at all.
--
--   SCHEDULED | EXECUTING | PUBLISHING -> EXECUTING, or SKIPPED when the table is as new already; PUBLISHED stays
--   returns what is to be done, see order_of
--   locks   the refresh row; it waits for a publication under way
--   raises  CM001 the claim was lost
create or replace function lake.begin_refresh(
  p_refresh_id  bigint,
  p_fence       bigint,
  p_timeout     interval,
  p_keep_plan   boolean default false
)
  returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_checked  bigint := lake.scan_changes();
  v_refresh  lake.refresh;
  v_frontier lake.frontier;
begin
  perform lake.note_directory(p_refresh_id);
  update lake.refresh as r
     set fence       = p_fence,
         state       = case r.state when 'PUBLISHED' then r.state else 'EXECUTING' end,
         plan        = case when p_keep_plan or r.state = 'PUBLISHED' then r.plan end,
         started_at  = coalesce(r.started_at, worker.now()),
         deadline_at = coalesce(r.deadline_at, worker.now() + p_timeout)
   where r.id = p_refresh_id
     and r.fence < p_fence
     and r.finished_at is null
  returning r.* into v_refresh;
  if not found then
    perform lake.raise_not_held(p_refresh_id, p_fence);
  end if;

  select f.* into v_frontier from lake.frontier as f where f.dt_id = v_refresh.dt_id;
  if v_refresh.state = 'EXECUTING' then
    if (v_frontier.data_snapshot, v_frontier.round_id)
       >= (select o.snapshot, o.id from lake.round as o where o.id = v_refresh.round_id) then
      perform lake.settle_refresh(p_refresh_id, 'SKIPPED');
      perform lake.advance(); -- of rounds that are free: waiting for one while holding a refresh could be a deadlock
    elsif v_refresh.plan is null then
      update lake.refresh as r
         set from_epoch = v_frontier.epoch, checked_snapshot = v_checked
       where r.id = p_refresh_id;
    end if;
  end if;
  return lake.order_of(p_refresh_id);
end;
$$;
