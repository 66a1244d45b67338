-- complete_and_go_on: as complete_tasks, and the next task of each lane whose head has just completed goes to the same
-- worker in the same transaction: this saves a round trip and a row in ready, and what the handler caches for the lane
-- stays cached. Lanes of paused, limited and serial queues, and of queues with deduplicated commands, are left to an
-- ordinary claim.
--
--   processing -> completed; pending -> processing
--   locks   see complete_plain; then blocked rows
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
  v_heads bigint[];
begin
  select c.p_done, c.p_heads into done, v_heads
    from worker.complete_plain(p_ids, p_fences, p_infos, p_results, p_limit) as c;
  return next;
  done := null;
  if v_heads <> '{}' then
    return query
      select null::bigint[], s
        from worker.start_ready('{}', false, p_worker_id, null, p_heads => v_heads) as s;
  end if;
end;
$$;
