-- settle_refresh: a refresh ends. What has been published has succeeded, whatever happened to its task afterwards. The
-- time of a success, from when it could start, enters the expectation of the next one. Failures of scheduled rounds are
-- counted, and too many in a row suspend the table; any success resets the count. If it has written files outside of
-- the catalog, or may have, they are swept.
--
--   any open state -> p_state, or SUCCEEDED
--   returns the state it is in now; one that had ended before is left as it was
--   locks   the refresh row, then the table's
create or replace function lake.settle_refresh(
  p_refresh_id  bigint,
  p_state       text,
  p_code        text default null,
  p_text        text default null
)
  returns text
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_refresh lake.refresh;
  v_now     timestamptz := worker.now();
begin
  perform lake.note_directory(p_refresh_id);
  update lake.refresh as r
     set state       = case r.state when 'PUBLISHED' then 'SUCCEEDED' else p_state end,
         error_code  = case r.state when 'PUBLISHED' then r.error_code else p_code end,
         error_text  = case r.state when 'PUBLISHED' then r.error_text else p_text end,
         finished_at = v_now
   where r.id = p_refresh_id
     and r.finished_at is null
  returning r.* into v_refresh;
  if not found then
    return (select r.state from lake.refresh as r where r.id = p_refresh_id);
  end if;

  if v_refresh.state = 'SUCCEEDED' then
    update lake.dt as d
       set error_streak = 0,
           expected_ms  = case when v_refresh.queued_at is null or v_refresh.queued_at > v_now then d.expected_ms
                               when d.expected_ms = 0 then lake.ms_between(v_refresh.queued_at, v_now)
                               else 0.7 * d.expected_ms + 0.3 * lake.ms_between(v_refresh.queued_at, v_now) end
     where d.id = v_refresh.dt_id;
  elsif v_refresh.state = 'FAILED' then
    perform lake.count_failure(v_refresh);
  end if;
  if v_refresh.state in ('FAILED', 'CANCELLED', 'UPSTREAM_FAILED') then
    perform lake.give_up_replacement(v_refresh.dt_id);
  end if;
  -- Its files are cleaned up by a separate task, which exists whatever dies.
  if exists (select from lake.artifact as a where a.refresh_id = p_refresh_id)
     and exists (select from worker.command_registry as c where c.command = 'lake_sweep') then
    perform worker.enqueue('lake_sweep', jsonb_build_object('refresh_id', p_refresh_id));
  end if;
  return v_refresh.state;
end;
$$;
