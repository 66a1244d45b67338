-- settle_idle: settle refreshes of tables without changes. Their content is also valid at the round's snapshot, so only
-- the record moves: no task, no read of the lake.
--
--   SCHEDULED -> SUCCEEDED, action no_data
--   locks   the frontier rows of the tables, which have no other refresh under way, then the refresh rows, then those
--           of the tables
create or replace function lake.settle_idle(p_refreshes bigint[])
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := worker.now();
begin
  -- Before the frontier moves, because its snapshot names the version.
  update lake.version as v
     set data_to = o.snapshot
    from lake.refresh as r
    join lake.round as o on o.id = r.round_id
    join lake.frontier as f on f.dt_id = r.dt_id
   where r.id = any (p_refreshes)
     and v.dt_id = r.dt_id
     and v.data_to = f.data_snapshot
     and v.data_to < o.snapshot;
  update lake.frontier as f
     set epoch            = f.epoch + 1,
         data_snapshot    = o.snapshot,
         data_at          = o.data_at,
         round_id         = o.id,
         checked_snapshot = greatest(f.checked_snapshot, o.snapshot)
    from lake.refresh as r
    join lake.round as o on o.id = r.round_id
   where r.id = any (p_refreshes)
     and f.dt_id = r.dt_id;
  update lake.read as e
     set snapshot = o.snapshot
    from lake.refresh as r
    join lake.round as o on o.id = r.round_id
    join lake.source as s on s.dt_id = r.dt_id and s.source_dt_id is null
   where r.id = any (p_refreshes)
     and e.dt_id = s.dt_id
     and e.table_id = s.table_id
     and e.snapshot < o.snapshot;
  update lake.refresh as r
     set state = 'SUCCEEDED', action = 'no_data', inserted = 0, deleted = 0, rows_after = f.rows, started_at = v_now,
         finished_at = v_now
    from lake.frontier as f
   where r.id = any (p_refreshes)
     and r.finished_at is null
     and f.dt_id = r.dt_id;
  update lake.dt as d
     set error_streak = 0
    from lake.refresh as r
   where r.id = any (p_refreshes)
     and d.id = r.dt_id
     and d.error_streak > 0;
end;
$$;
