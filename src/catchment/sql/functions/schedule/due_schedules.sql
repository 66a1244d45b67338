-- due_schedules: schedules that have something to do.
create or replace function worker.due_schedules()
  returns setof worker.schedule
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select s.*
    from worker.schedule as s
   where worker.is_due(s, worker.now())
   order by s.name;
$$;
