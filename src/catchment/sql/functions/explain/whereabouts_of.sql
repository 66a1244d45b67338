-- whereabouts_of: where an unsettled task stands, or the join of one that waits; at is ready, blocked, running or
-- waiting. Nothing for a settled task.
create or replace function worker.whereabouts_of(p_task_id bigint)
  returns worker.whereabouts
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select 'running', null::text, null::bigint, null::timestamptz, r.queue_id, null::"char", r.tier, r.band, 1::smallint,
         null::bigint, null::text, r.phase, r.attempt, r.failures, r.started_at
    from worker.running as r
   where r.id = p_task_id
  union all
  select 'ready', null, null, null, r.queue_id, r.kind, r.tier, r.band, r.rank, r.place, null, r.phase, r.attempt,
         r.failures, r.since
    from worker.ready as r
   where r.id = p_task_id
  union all
  select 'blocked', b.reason, b.wait_id, b.due_at, b.queue_id, b.kind, b.tier, b.band, b.rank, b.place, b.lane, b.phase,
         b.attempt, b.failures, null
    from worker.blocked as b
   where b.id = p_task_id
  union all
  select 'waiting', null, null, null, s.queue_id, s.kind, 0::smallint, s.band, 1::smallint, s.place, s.lane,
         1::smallint, s.attempt, 0, s.stopped_at
    from worker.scope as s
   where s.id = p_task_id
     and s.state = 'waiting'
   limit 1;
$$;
