-- declare_schedules: register the schedules in the code of a worker that starts: p_schedules is an array of objects
-- with columns of worker.schedule. Doing so again changes nothing.
--
--   locks   their rows in schedule_source by name, only those of this worker; see adopt_schedules
--   raises  CM013 the name is taken; CM016 the schedule could never fire; CM018 an option has an invalid value
create or replace function worker.declare_schedules(
  p_worker_id  bigint,
  p_schedules  jsonb
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now   timestamptz := worker.now();
  v_taken text;
  v_name  text;
begin
  select s.name into v_taken
    from worker.schedule as s
    join jsonb_to_recordset(p_schedules) as n (name text) on n.name = s.name
   where not s.is_declared
   order by s.name
   limit 1;
  if found then
    raise exception using
      errcode = 'CM013',
      message = format('schedule %s was made by SQL, so it cannot be in the code of an app as well', v_taken),
      hint = format('Give the one in the code another name=, or delete the row: delete from worker.schedule where '
                    'name = %L', v_taken);
  end if;

  insert into worker.schedule_source as s (name, digest, definition, first_at, seen_at, worker_ids)
  select d.value ->> 'name', md5(d.value::text), d.value, v_now, v_now, array[p_worker_id]
    from jsonb_array_elements(p_schedules) as d (value)
   order by d.value ->> 'name'
      on conflict (name, digest) do update
     set seen_at    = v_now,
         worker_ids = array(select w.worker_id from worker.worker as w where w.worker_id = any (s.worker_ids)
                            union
                            select p_worker_id);

  for v_name in
    select d.value ->> 'name' from jsonb_array_elements(p_schedules) as d (value) order by d.value ->> 'name'
  loop
    perform worker.adopt_schedules(v_name);
  end loop;
end;
$$;
