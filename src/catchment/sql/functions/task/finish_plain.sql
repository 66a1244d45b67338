-- finish_plain: plain attempts (only scopes and lanes depend on them) complete: they leave running and get their
-- outcomes, in one statement. One that a cancel or a progress report changed at the same moment is looked for once
-- more.
--
--   processing -> completed
--   locks   running rows by their place in the table: that is the order in which a list of places is read
--   reads   worker.offspring
--   plan    hash
create or replace function worker.finish_plain(
  p_ids         bigint[],
  p_fences      bigint[],
  p_infos       jsonb[],
  p_results     jsonb[],
  out p_done      bigint[],
  out p_children  bigint[],
  out p_heads     bigint[]
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now      timestamptz := worker.now();
  v_done     bigint[];
  v_children bigint[];
  v_heads    bigint[];
  -- fences of attempts that have made offspring: in this transaction, or they would have ended
  v_made     bigint[] := '{}';
begin
  if pg_current_xact_id_if_assigned() is not null then
    v_made := array(select o.fence from worker.offspring as o where o.xact = pg_current_xact_id_if_assigned());
  end if;
  p_done := '{}';
  p_children := '{}';
  p_heads := '{}';
  for v_look in 1 .. 2 loop
    with gone as (
      delete from worker.running as r
       where r.ctid = any (array(
               select x.ctid
                 from worker.running as x
                 join unnest(p_ids, p_fences) as u (id, fence) on x.id = u.id
                  and x.fence = u.fence
                where x.id = any (p_ids)
                  and x.is_plain
                  and not x.has_merged
                  and x.fence <> all (v_made)))
      returning r.id, r.tier, r.has_lane, r.attempt, r.worker_pid, r.started_at
    ),
    kept as (
      insert into worker.outcome (id, state, attempt, worker_pid, started_at, stopped_at, completed_at, info, result)
      select g.id, 'completed', g.attempt, g.worker_pid, g.started_at, v_now, v_now, i.info, i.result
        from gone as g
        join unnest(p_ids, p_infos, p_results) as i (id, info, result) on i.id = g.id
    )
    select array_agg(g.id), array_agg(g.id) filter (where g.tier = 0), array_agg(g.id) filter (where g.has_lane)
      into v_done, v_children, v_heads
      from gone as g;
    p_done := p_done || v_done;
    p_children := p_children || v_children;
    p_heads := p_heads || v_heads;
    exit when cardinality(p_done) = cardinality(p_ids);
  end loop;
end;
$$;
