-- claim: take up to p_limit ready tasks of one queue, handler kind and tier, in order, under new fences.
-- It never looks at anything that cannot start. Its cost is that of the tasks taken: the position hint (a session setting)
-- steps over entries that are dead but still visible to an old snapshot, and never hides a more urgent or an interrupted one.
--
--   ready -> processing
--   locks   ready rows that are free; the lane row of a serial queue if it is free
create or replace function worker.claim(
  p_queue_id     integer,
  p_kind         "char",
  p_tier         integer,
  p_limit        integer,
  p_max_priority integer default null,
  p_worker_id    bigint default null,
  p_backend_key  bigint default null
)
  returns setof worker.claimed
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set enable_sort = off
as $$
declare
  v_queue  worker.queue_registry;
  v_now    timestamptz := worker.now();
  v_limit  integer := p_limit;
  v_rows   tid[];
  v_ids    bigint[];
  v_twins  bigint[];
  v_id     bigint;
begin
  if exists (select from worker.blocked as b where b.due_at <= v_now) then
    perform worker.promote_due();
  end if;
  if exists (select from worker.arrival) then
    perform worker.admit_arrivals();
  end if;

  select q.* into v_queue from worker.queue_registry as q where q.queue_id = p_queue_id;
  if v_queue.paused_at is not null and coalesce(v_queue.paused_until > v_now, true) then
    return;
  end if;

  if v_queue.mode = 'serial' and p_tier = 1 then
    v_rows := worker.pick_serial(p_queue_id, p_kind, p_max_priority);
  else
    v_rows := worker.pick_ready(p_queue_id, p_kind, p_tier::smallint, v_limit, p_max_priority);
  end if;
  if v_rows = '{}' then
    return;
  end if;

  with gone as (
    delete from worker.ready as r where r.ctid = any (v_rows) returning r.*
  ),
  made as (
    insert into worker.running (id, fence, worker_id, worker_pid, backend_key, command, queue_id, kind, band, place, parent_id,
                                depth, lane, phase, attempt, failures, interruptions, max_attempts, started_at, deadline_at,
                                has_after, has_merged)
    select g.id, nextval('worker.fence'), p_worker_id, case when p_kind = 's' then pg_backend_pid() end, p_backend_key,
           t.command, g.queue_id, g.kind, g.band, g.place, t.parent_id, t.depth,
           coalesce(t.lane, case when v_queue.mode = 'serial' and t.parent_id is null then '' end),
           g.phase, g.attempt + 1, g.failures, g.interruptions, t.max_attempts, v_now, v_now + c.timeout,
           c.after_procedure is not null,
           case when t.dedup_key is null then false
                else exists (select from worker.blocked as b where b.wait_id = g.id and b.reason = 'merged')
           end
      from gone as g
      join worker.task as t on t.id = g.id
      left join worker.command_registry as c on c.command = t.command
    returning id, lane
  )
  select array_agg(m.id), array_agg(t.id) filter (where t.dedup_key is not null and g.attempt = 0)
    into v_ids, v_twins
    from made as m
    join worker.task as t on t.id = m.id
    join gone as g on g.id = m.id;

  if v_queue.mode = 'serial' and p_tier = 1 then
    update worker.lane as l set head_id = v_ids[1] where l.queue_id = p_queue_id and l.lane = '';
  end if;
  if v_twins is not null then
    foreach v_id in array v_twins loop
      perform worker.fold_pending(v_id);
    end loop;
  end if;

  return query
    select r.id, r.fence, r.command, t.payload, r.attempt, r.phase, r.parent_id, r.depth, r.lane, r.queue_id, r.deadline_at
      from worker.running as r
      join worker.task as t on t.id = r.id
     where r.id = any (v_ids)
     order by r.band, r.place, r.id;
end;
$$;
