-- requeue: make tasks pending again after an attempt. A retry waits for its backoff. An interrupted task goes ahead of
-- others of the same priority. A released task returns to its place, or waits for the requested delay, and has used no
-- attempt. A snoozing task waits as long as its handler requested: it was started, and has not failed. Each keeps its
-- place, and its lane stays held.
--
--   locks   ready and blocked rows of these tasks, which are new; snoozed rows of these tasks, which nobody else takes
create or replace function worker.requeue(p_ended worker.ended[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now    timestamptz := worker.now();
  v_queues integer[];
begin
  insert into worker.blocked (id, reason, due_at, queue_id, kind, tier, band, rank, place, lane, phase, attempt,
                              failures, interruptions)
  select (e.run).id, 'retry',
         v_now + coalesce(worker.retry_after(e.error),
                          worker.retry_delay((e.run).failures + 1, c.retry_delay, c.retry_factor, c.retry_max_delay,
                                             c.retry_jitter),
                          interval '1 second'),
         (e.run).queue_id, (e.run).kind, (e.run).tier, (e.run).band, 1,
         (e.run).place, nullif((e.run).lane, ''), (e.run).phase, (e.run).attempt - d.unused,
         (e.run).failures + 1 - d.unused, (e.run).interruptions
    from unnest(p_ended) as e
   cross join lateral (select case e.fate when 'released' then 1 else 0 end as unused) as d
    left join worker.command_registry as c on c.command = (e.run).command
   where e.fate = 'retry'
      or e.fate = 'released' and worker.retry_after(e.error) is not null;

  if exists (select from unnest(p_ended) as e where e.fate = 'snoozed') then
    insert into worker.blocked (id, reason, due_at, queue_id, kind, tier, band, rank, place, lane, phase, attempt,
                                failures, interruptions)
    select (e.run).id, 'snooze', worker.snoozed_until(e.error, v_now), (e.run).queue_id, (e.run).kind, (e.run).tier,
           (e.run).band, 1, (e.run).place, nullif((e.run).lane, ''), (e.run).phase, (e.run).attempt, (e.run).failures,
           (e.run).interruptions
      from unnest(p_ended) as e
     where e.fate = 'snoozed';
    insert into worker.snoozed as s (task_id, times, until, at, reason)
    select (e.run).id, 1, worker.snoozed_until(e.error, v_now), v_now, nullif(left(e.error ->> 'message', 2000), '')
      from unnest(p_ended) as e
     where e.fate = 'snoozed'
        on conflict (task_id) do update
       set times  = s.times + 1,
           until  = excluded.until,
           at     = excluded.at,
           reason = excluded.reason;
  end if;

  insert into worker.ready (queue_id, kind, tier, band, rank, place, id, phase, attempt, failures, interruptions, since)
  select (e.run).queue_id, (e.run).kind, (e.run).tier, (e.run).band,
         case e.fate when 'interrupted' then 0 else 1 end, (e.run).place, (e.run).id, (e.run).phase,
         (e.run).attempt - case e.fate when 'released' then 1 else 0 end, (e.run).failures,
         (e.run).interruptions + case e.fate when 'interrupted' then 1 else 0 end, v_now
    from unnest(p_ended) as e
   where e.fate = 'interrupted'
      or e.fate = 'released' and worker.retry_after(e.error) is null;

  select array_agg(distinct (e.run).queue_id) into v_queues
    from unnest(p_ended) as e
   where e.fate in ('interrupted', 'released');
  -- The top level of a serial queue: the next in its lane may have it.
  perform worker.wake(v_queues, t.tier) from generate_series(0, 2) as t (tier);
end;
$$;
