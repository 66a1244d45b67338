-- repeat_refresh: restart a refresh whose subtasks have read outdated data. It starts over, by a new task in the lane
-- of its table; the deadline stays. Its holder completes its own task in the same transaction. How often that happened
-- is in the figures ("repeats").
--
--   EXECUTING -> EXECUTING, without a plan and with another task
--   returns false, and nothing happens, when it was repeated p_most times before
--   locks   the refresh row
--   raises  CM001 the claim was lost
create or replace function lake.repeat_refresh(
  p_refresh_id  bigint,
  p_fence       bigint,
  p_most        integer
)
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_refresh lake.refresh;
  v_repeats integer;
begin
  select r.* into v_refresh
    from lake.refresh as r
   where r.id = p_refresh_id
     and r.fence = p_fence
     and r.state = 'EXECUTING'
     for update;
  if not found then
    perform lake.raise_not_held(p_refresh_id, p_fence);
  end if;
  v_repeats := coalesce((v_refresh.figures ->> 'repeats')::integer, 0);
  if v_repeats >= p_most then
    return false;
  end if;
  update lake.refresh as r
     set task_id    = worker.enqueue('lake_refresh', jsonb_build_object('refresh_id', r.id),
                                     p_lane => 'table-' || r.dt_id),
         plan       = null,
         planned_at = null,
         keys       = null,
         figures    = r.figures || jsonb_build_object('repeats', v_repeats + 1)
   where r.id = p_refresh_id;
  return true;
end;
$$;
