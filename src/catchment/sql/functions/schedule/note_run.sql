-- note_run: a time of a schedule was decided: a row of its history, of which the last 1000 are kept, its last ten
-- tasks, and its next time if one is given.
--
--   returns the schedule as it is now
--   locks   the schedule row
create or replace function worker.note_run(
  p_name         text,
  p_due          timestamptz,
  p_missed_from  timestamptz,
  p_fate         text,
  p_task_id      bigint,
  p_next_at      timestamptz default null
)
  returns worker.schedule
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  c_kept     constant integer := 1000;
  v_schedule worker.schedule;
begin
  update worker.schedule as s
     set runs         = s.runs + 1,
         next_at      = coalesce(p_next_at, s.next_at),
         last_at      = case when p_task_id is null then s.last_at else worker.now() end,
         last_task_id = coalesce(p_task_id, s.last_task_id),
         recent_ids   = case when p_task_id is null then s.recent_ids else (p_task_id || s.recent_ids)[1:10] end
   where s.name = p_name
  returning s.* into v_schedule;
  insert into worker.schedule_run (schedule, n, due_at, missed_from, at, fate, task_id)
  values (p_name, v_schedule.runs, p_due,
          case when p_missed_from >= timestamptz '0001-01-03' and p_missed_from < p_due then p_missed_from end,
          worker.now(), p_fate, p_task_id);
  delete from worker.schedule_run as r where r.schedule = p_name and r.n <= v_schedule.runs - c_kept;
  return v_schedule;
end;
$$;
