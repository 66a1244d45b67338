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
  set jit = off
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set enable_sort = off
as $$
declare
  v_now     timestamptz := worker.now();
  v_queue   record;
  v_serial  boolean;
  v_rows    tid[];
  v_claimed worker.claimed[];
  v_twins   bigint[];
begin
  select q.mode, q.paused_at is not null and coalesce(q.paused_until > v_now, true) as is_paused,
         exists (select from worker.blocked as b where b.due_at <= v_now) as is_due,
         exists (select from worker.arrival) as has_arrived
    into v_queue
    from worker.queue_registry as q
   where q.queue_id = p_queue_id;
  if v_queue.is_due then
    perform worker.promote_due();
  end if;
  if v_queue.has_arrived then
    perform worker.admit_arrivals();
  end if;
  if v_queue.is_paused then
    return;
  end if;

  v_serial := v_queue.mode = 'serial' and p_tier = 1;
  if v_serial then
    v_rows := worker.pick_serial(p_queue_id, p_kind, p_max_priority);
  else
    v_rows := worker.pick_ready(p_queue_id, p_kind, p_tier::smallint, p_limit, p_max_priority);
  end if;
  if v_rows = '{}' then
    return;
  end if;

  with gone as (
    delete from worker.ready as r where r.ctid = any (v_rows) returning r.*
  ),
  started as materialized (
    select g.*, nextval('worker.fence') as fence, t.command, t.payload, t.parent_id, t.depth, t.max_attempts,
           coalesce(t.lane, case when v_serial then '' end) as lane, v_now + c.timeout as deadline_at,
           c.after_procedure is not null as has_after, g.attempt = 0 and t.dedup_key is not null as has_twins,
           case when t.dedup_key is null then false -- else a retried survivor still has its twins
                else exists (select from worker.blocked as b where b.wait_id = g.id and b.reason = 'merged')
           end as has_merged
      from gone as g
      join worker.task as t on t.id = g.id
      left join worker.command_registry as c on c.command = t.command
  ),
  made as (
    insert into worker.running (id, fence, worker_id, worker_pid, backend_key, command, queue_id, kind, band, place, parent_id,
                                depth, lane, phase, attempt, failures, interruptions, max_attempts, started_at, deadline_at,
                                has_after, has_merged)
    select s.id, s.fence, p_worker_id, case when p_kind = 's' then pg_backend_pid() end, p_backend_key, s.command, s.queue_id,
           s.kind, s.band, s.place, s.parent_id, s.depth, s.lane, s.phase, s.attempt + 1, s.failures, s.interruptions,
           s.max_attempts, v_now, s.deadline_at, s.has_after, s.has_merged
      from started as s
  )
  select array_agg((s.id, s.fence, s.command, s.payload, s.attempt + 1, s.phase, s.parent_id, s.depth, s.lane, s.queue_id,
                    s.deadline_at)::worker.claimed order by s.band, s.rank, s.place, s.id),
         array_agg(s.id order by s.band, s.rank, s.place, s.id) filter (where s.has_twins)
    into v_claimed, v_twins
    from started as s;

  if v_serial then
    update worker.lane as l set head_id = v_claimed[1].id where l.queue_id = p_queue_id and l.lane = '';
  end if;
  if v_twins is null then
    return query select c.* from unnest(v_claimed) as c;
  else
    perform worker.fold_pending(t.id, v_twins) from unnest(v_twins) as t (id);
    return query
      select c.id, c.fence, c.command, t.payload, c.attempt, c.phase, c.parent_id, c.depth, c.lane, c.queue_id, c.deadline_at
        from unnest(v_claimed) with ordinality as c
        join worker.task as t on t.id = c.id
        join worker.running as r on r.id = c.id -- of twins in one claim, one runs
       order by c.ordinality;
  end if;
end;
$$;
