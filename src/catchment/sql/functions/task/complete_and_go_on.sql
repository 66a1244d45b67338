-- complete_and_go_on: as complete_tasks, and the next task of each lane whose head has just completed goes to the same
-- worker in the same transaction: this saves a round trip, and what the handler caches for the lane stays cached. Lanes
-- of paused, limited and serial queues and deduplicated tasks are left to an ordinary claim.
--
--   processing -> completed; ready -> processing
--   locks   see complete_tasks; then ready rows that are free
--   returns one row with the ids of the tasks completed, then a row for each task that continues
--   plan    walk_sorted
create or replace function worker.complete_and_go_on(
  p_worker_id  bigint,
  p_ids        bigint[],
  p_fences     bigint[],
  p_infos      jsonb[],
  p_results    jsonb[],
  p_limit      integer
)
  returns table (done bigint[], next worker.claimed)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_done bigint[] := worker.complete_tasks(p_ids, p_fences, p_infos, p_results);
  v_rows tid[];
begin
  return query select v_done, null::worker.claimed;
  v_rows := array(
    select r.row_id
      from unnest(v_done) as d (id)
     cross join lateral (select t.queue_id, t.lane from worker.task as t where t.id = d.id limit 1) as t
     cross join lateral (select l.head_id
                           from worker.lane as l
                          where l.queue_id = t.queue_id and l.lane = t.lane and l.halted_at is null
                          limit 1) as l
     cross join lateral (select r.ctid as row_id, r.queue_id
                           from worker.ready as r
                          where r.id = l.head_id and r.kind = 'p' and r.tier = 1 and r.phase = 0
                          limit 1
                            for update skip locked) as r
     where exists (select from worker.queue_registry as q
                    where q.queue_id = t.queue_id and q.mode = 'concurrent' and q.paused_at is null
                      and q.max_running is null
                      and q.rate is null)
       and exists (select from worker.task as n where n.id = l.head_id and n.dedup_key is null)
     limit p_limit);
  if v_rows <> '{}' then
    return query select null::bigint[], s from worker.start_ready(v_rows, false, p_worker_id, null) as s;
  end if;
end;
$$;
