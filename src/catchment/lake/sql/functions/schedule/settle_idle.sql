-- settle_idle: settle refreshes of tables without changes. Their content is also valid at the round's snapshot, so only
-- the record moves: no task, no read of the lake. p_epochs are those of the frontiers from which that was seen. A table
-- whose frontier has moved since then has another definition, and stays as it is: the caller decides again.
--
--   SCHEDULED -> SUCCEEDED, action no_data
--   locks   the rows of tables that had failed, then the frontier rows, then the refresh rows
create or replace function lake.settle_idle(
  p_refreshes  bigint[],
  p_epochs     bigint[]
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now  timestamptz := worker.now();
  v_idle bigint[];
begin
  update lake.dt as d
     set error_streak = 0
    from lake.refresh as r
   where r.id = any (p_refreshes)
     and d.id = r.dt_id
     and d.error_streak > 0;
  -- Who had to wait for a frontier compares its epoch as it is now. The snapshot that it had is from a second look.
  with idle as (
    update lake.frontier as f
       set epoch            = f.epoch + 1,
           data_snapshot    = o.snapshot,
           data_at          = o.data_at,
           round_id         = o.id,
           checked_snapshot = greatest(f.checked_snapshot, o.snapshot)
      from unnest(p_refreshes, p_epochs) as p (id, epoch)
      join lake.refresh as r on r.id = p.id
      join lake.round as o on o.id = r.round_id
      join lake.frontier as b on b.dt_id = r.dt_id
     where f.dt_id = r.dt_id
       and f.epoch is not distinct from p.epoch -- not "=", by which tables would be joined
    returning r.id, f.dt_id, b.data_snapshot, o.snapshot
  ), valid as (
    update lake.version as v
       set data_to = i.snapshot
      from idle as i
     where v.dt_id = i.dt_id
       and v.data_to = i.data_snapshot
       and v.data_to < i.snapshot
  )
  select array_agg(i.id) into v_idle from idle as i;
  update lake.read as e
     set snapshot = o.snapshot
    from lake.refresh as r
    join lake.round as o on o.id = r.round_id
    join lake.source as s on s.dt_id = r.dt_id and s.source_dt_id is null
   where r.id = any (v_idle)
     and e.dt_id = s.dt_id
     and e.table_id = s.table_id
     and e.snapshot < o.snapshot;
  update lake.refresh as r
     set state = 'SUCCEEDED', action = 'no_data', inserted = 0, deleted = 0, rows_after = f.rows, started_at = v_now,
         finished_at = v_now
    from lake.frontier as f
   where r.id = any (v_idle)
     and r.finished_at is null
     and f.dt_id = r.dt_id;
end;
$$;
