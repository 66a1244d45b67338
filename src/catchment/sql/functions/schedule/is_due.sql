-- is_due: whether a schedule has something to do at p_now: it is due, or new and without a first time yet, or last
-- fired in what is the future since the clock was set back. One that is declared fires only while a live worker
-- has it in its code. One that waits for its last run is not due before that has settled.
create or replace function worker.is_due(
  p_schedule  worker.schedule,
  p_now       timestamptz
)
  returns boolean
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case
           when not p_schedule.enabled or p_schedule.next_at > p_now and coalesce(p_schedule.last_at <= p_now, true)
             then false
           when p_schedule.is_declared and not worker.is_in_code(p_schedule.name) then false
           when p_schedule.overlap = 'wait' then worker.open_runs(p_schedule.recent_ids) = '{}'
           else true
         end;
$$;
