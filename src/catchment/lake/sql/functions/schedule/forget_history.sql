-- forget_history: delete expired history: refreshes after the time that the lake keeps them, those that had nothing to
-- do after a day, rounds without refreshes, versions and changes older than every reader. Of those that had nothing to
-- do the times stay in lake.idle as long as other refreshes do: how old the data were is computed from all.
create or replace function lake.forget_history()
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  c_idle constant interval := '1 day';
  v_now  timestamptz := worker.now();
  v_kept interval := (select l.history from lake.lake as l);
begin
  -- The newest of each table stays, whatever its age: it says how the table is.
  with gone as (
    delete from lake.refresh as r
     where (r.finished_at < v_now - v_kept
            or r.finished_at < v_now - c_idle and (r.action = 'no_data' or r.state = 'SKIPPED'))
       and exists (select from lake.refresh as n where n.dt_id = r.dt_id and n.id > r.id)
    returning r.dt_id, r.round_id, r.state, coalesce(r.published_at, r.finished_at) as seen_at
  )
  insert into lake.idle (dt_id, until, seen_at, data_at)
  select g.dt_id, max(g.seen_at), array_agg(g.seen_at order by g.seen_at, o.data_at),
         array_agg(o.data_at order by g.seen_at, o.data_at)
    from gone as g
    join lake.round as o on o.id = g.round_id
   where g.state = 'SUCCEEDED'
     and g.seen_at >= v_now - v_kept
   group by g.dt_id;
  delete from lake.idle as i where i.until < v_now - v_kept;
  delete from lake.round as o
   where o.closed_at < v_now - c_idle
     and not exists (select from lake.refresh as r where r.round_id = o.id);
  delete from lake.reading as g using lake.round as o where o.id = g.round_id and o.closed_at is not null;
  delete from lake.audit_run as a where a.at < v_now - v_kept;
  delete from lake.version as v
   using lake.frontier as f
   where f.dt_id = v.dt_id
     and v.data_to < f.data_snapshot
     and v.data_to < coalesce((select min(o.snapshot) from lake.round as o where o.closed_at is null), f.data_snapshot);
  -- The newest upkeep of a table stays: who knows the table by its row ids has to hear of it, however late.
  delete from lake.change as c
   where c.snapshot_id < lake.pinned_snapshot()
     and (c.kind <> 'upkeep'
          or exists (select from lake.change as n where n.table_id = c.table_id and n.kind = 'upkeep'
                        and n.snapshot_id > c.snapshot_id));
end;
$$;
