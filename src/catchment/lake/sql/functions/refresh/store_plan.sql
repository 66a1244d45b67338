-- store_plan: store the division of a refresh into buckets, for the tasks that compute them and the task that
-- publishes.
--
--   locks   the refresh row
--   raises  CM001 the claim was lost
create or replace function lake.store_plan(
  p_refresh_id  bigint,
  p_fence       bigint,
  p_plan        jsonb,
  p_keys        bigint
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update lake.refresh as r
     set plan       = p_plan,
         keys       = p_keys,
         planned_at = worker.now()
   where r.id = p_refresh_id
     and r.fence = p_fence
     and r.state = 'EXECUTING';
  if not found then
    perform lake.raise_not_held(p_refresh_id, p_fence);
  end if;
end;
$$;
