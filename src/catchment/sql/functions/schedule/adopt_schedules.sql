-- adopt_schedules: update the declared schedules, or one of them, to the code of live workers. If workers have several
-- versions, the newest one counts: an older worker that starts again changes nothing, and after a rollback the
-- remaining version counts. Next times, pauses and histories are kept. A schedule that no live worker has stays as it
-- is and does not fire; seven days later it is deleted, unless it is paused.
--
--   returns how many were made, changed or deleted
--   locks   schedule rows by name, only those made, changed or deleted; rows of schedule_source
--   raises  CM016 the schedule could never fire; CM018 an option has an invalid value
create or replace function worker.adopt_schedules(p_only text default null)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_kept    constant interval := '7 days';
  v_now     timestamptz := worker.now();
  v_aside   text[] := case when p_only is null then worker.set_aside('adopt') else '{}' end;
  v_count   bigint;
  v_deleted bigint;
begin
  with live as (
    select distinct on (s.name) s.definition
      from worker.schedule_source as s
     where (p_only is null or s.name = p_only)
       and s.name <> all (v_aside)
       and exists (select
                     from worker.worker as w
                    where w.worker_id = any (s.worker_ids)
                      and w.lease_until > v_now)
     order by s.name, s.first_at desc, s.digest
  ), wanted as (
    select n.name, n.command, coalesce(n.payload, '{}') as payload, n.every, n.cron,
           coalesce(n.timezone, 'UTC') as timezone, coalesce(n.missed, 'one') as missed,
           coalesce(n.overlap, 'allow') as overlap, n.due_key, n.lane, n.priority
      from live as l
     cross join lateral jsonb_populate_record(null::worker.schedule, l.definition) as n
  )
  insert into worker.schedule as s (name, command, payload, every, cron, timezone, missed, overlap, due_key, lane,
                                    priority, is_declared)
  select w.name, w.command, w.payload, w.every, w.cron, w.timezone, w.missed, w.overlap, w.due_key, w.lane, w.priority,
         true
    from wanted as w
    left join worker.schedule as o on o.name = w.name
   where o.name is null
      or o.is_declared
     and (o.command, o.payload, o.every, o.cron, o.timezone, o.missed, o.overlap, o.due_key, o.lane, o.priority)
         is distinct from
         (w.command, w.payload, w.every, w.cron, w.timezone, w.missed, w.overlap, w.due_key, w.lane, w.priority)
   order by w.name
      on conflict (name) do update
     set command = excluded.command, payload = excluded.payload, every = excluded.every, cron = excluded.cron,
         timezone = excluded.timezone, missed = excluded.missed, overlap = excluded.overlap, due_key = excluded.due_key,
         lane = excluded.lane, priority = excluded.priority
   where s.is_declared;
  get diagnostics v_count = row_count;
  if p_only is not null then
    return v_count;
  end if;

  update worker.schedule_source as s
     set seen_at = v_now
   where s.seen_at < v_now - interval '1 hour'
     and exists (select from worker.worker as w where w.worker_id = any (s.worker_ids) and w.lease_until > v_now);
  delete from worker.schedule as s
   where s.is_declared
     and s.enabled
     and not exists (select from worker.schedule_source as o where o.name = s.name and o.seen_at >= v_now - c_kept);
  get diagnostics v_deleted = row_count;
  delete from worker.schedule_source as s where s.seen_at < v_now - c_kept;
  return v_count + v_deleted;
end;
$$;
