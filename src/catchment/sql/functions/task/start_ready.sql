-- start_ready: the picked rows become attempts of this worker, or of this session. Without rows it picks the first free
-- ones of a queue itself, children and joins first: one statement less than pick_ready, for claims that are in good
-- health.
--
--   ready -> processing
--   locks   ready rows that are free; the caller holds the lane row of a serial queue
create or replace function worker.start_ready(
  p_rows         tid[],
  p_serial       boolean,
  p_worker_id    bigint,
  p_backend_key  bigint,
  p_queue_id     integer default null,
  p_limit        integer default null
)
  returns setof worker.claimed
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := worker.now();
begin
  return query
    with gone as (
      delete from worker.ready as r
       where r.ctid = any (coalesce(p_rows, array(
               select x.ctid
                 from worker.ready as x
                where x.queue_id = p_queue_id and x.kind = 'p' and x.tier between 0 and 1
                order by x.tier, x.band, x.rank, x.place, x.id
                limit p_limit
                  for update skip locked)))
      returning r.id, r.queue_id, r.kind, r.tier, r.band, r.rank, r.place, r.phase, r.attempt, r.failures,
                r.interruptions
    ),
    started as materialized (
      select g.*, nextval('worker.fence') as fence, t.command, t.payload, t.parent_id, t.depth, t.trace,
             coalesce(t.lane, case when p_serial then '' end) as lane,
             c.timeout, t.max_attempts,
             g.attempt = 0 and t.dedup_key is not null as has_twins,
             case when t.dedup_key is null then false -- else a survivor that comes back still has its twins
                  else exists (select from worker.blocked as b where b.wait_id = g.id and b.reason = 'merged')
             end as has_merged,
             g.phase = 0 and c.after_procedure is null and t.gate is null as is_plain,
             case when g.phase = 0 then c.before_procedure end as before_procedure
        from gone as g
        join worker.task as t on t.id = g.id
        left join worker.command_registry as c on c.command = t.command
    ),
    made as (
      insert into worker.running (id, fence, worker_id, worker_pid, backend_key, queue_id, tier, band, phase, attempt,
                                  failures, interruptions, started_at, deadline_at, is_plain, has_lane, has_merged)
      select s.id, s.fence, p_worker_id, case when s.kind = 's' then pg_backend_pid() end, p_backend_key, s.queue_id,
             s.tier, s.band, s.phase, s.attempt + 1, s.failures, s.interruptions, v_now, v_now + s.timeout, s.is_plain,
             s.lane is not null, s.has_merged
        from started as s
    )
    select s.id, s.fence, s.command, s.payload, s.attempt + 1, s.phase, s.parent_id, s.depth, s.lane, s.queue_id,
           s.timeout, s.failures, s.max_attempts, s.is_plain, s.has_twins, s.trace, s.before_procedure
      from started as s
     order by s.tier, s.band, s.rank, s.place, s.id;
end;
$$;
