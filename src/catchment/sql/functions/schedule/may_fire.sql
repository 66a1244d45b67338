-- may_fire: whether a schedule whose time has come may be fired now. One that is declared fires only while a live
-- worker has it in its code; one that waits for its last run does not before that has settled.
create or replace function worker.may_fire(p_schedule worker.schedule)
  returns boolean
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case
           when p_schedule.is_declared and not worker.is_in_code(p_schedule.name) then false
           when p_schedule.overlap = 'wait' then worker.open_runs(p_schedule.recent_ids) = '{}'
           else true
         end;
$$;
