-- due_schedules: schedules that are due and may be fired, or are new and without a first time yet, or last fired in
-- what is the future since the clock was set back.
create or replace function worker.due_schedules()
  returns setof worker.schedule
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select s.*
    from worker.schedule as s
   where s.enabled
     and (coalesce(s.next_at <= worker.now(), true) or s.last_at > worker.now())
     and worker.may_fire(s)
   order by s.name;
$$;
