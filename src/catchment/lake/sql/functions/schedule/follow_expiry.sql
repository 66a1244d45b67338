-- follow_expiry: other programs may expire snapshots that the tables of a round stand on. What has not changed since
-- can be read at the next snapshot that is left, so the record moves there: where the content of a dynamic table is,
-- and what its readers and the sources were read at. Where it has changed, the table is computed from the beginning.
--
--   plan    walk
--   locks   of such tables the frontier, version and read rows
create or replace function lake.follow_expiry(p_round_id bigint)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone record;
begin
  for v_gone in
    select f.dt_id, d.physical_id, f.commit_snapshot, n.snapshot_id as kept
      from lake.refresh as r
      join lake.frontier as f on f.dt_id = r.dt_id
      join lake.dt as d on d.id = r.dt_id
     cross join lateral (select min(s.snapshot_id) as snapshot_id
                           from lake.ducklake_snapshot as s
                          where s.snapshot_id > f.commit_snapshot) as n
     where r.round_id = p_round_id
       and not exists (select from lake.ducklake_snapshot as s where s.snapshot_id = f.commit_snapshot)
       and not exists (select
                         from lake.change as c
                        where c.table_id = d.physical_id
                          and c.kind <> 'upkeep'
                          and c.snapshot_id > f.checked_snapshot
                          and c.snapshot_id <= n.snapshot_id
                          and c.snapshot_id <> f.commit_snapshot)
  loop
    update lake.frontier as f
       set commit_snapshot = v_gone.kept, checked_snapshot = greatest(f.checked_snapshot, v_gone.kept)
     where f.dt_id = v_gone.dt_id
       and f.commit_snapshot = v_gone.commit_snapshot;
    update lake.version as v
       set commit_snapshot = v_gone.kept
     where v.dt_id = v_gone.dt_id
       and v.commit_snapshot = v_gone.commit_snapshot;
    update lake.read as e
       set snapshot = v_gone.kept
     where e.table_id = v_gone.physical_id
       and e.snapshot = v_gone.commit_snapshot;
  end loop;
  update lake.read as e
     set snapshot = n.snapshot_id
    from lake.refresh as r
    join lake.source as s on s.dt_id = r.dt_id and s.source_dt_id is null
    join lake.read as o on o.dt_id = s.dt_id and o.table_id = s.table_id
   cross join lateral (select min(k.snapshot_id) as snapshot_id
                         from lake.ducklake_snapshot as k
                        where k.snapshot_id > o.snapshot) as n
   where r.round_id = p_round_id
     and e.dt_id = o.dt_id
     and e.table_id = o.table_id
     and n.snapshot_id is not null
     and not exists (select from lake.ducklake_snapshot as k where k.snapshot_id = o.snapshot)
     and not exists (select
                       from lake.change as c
                      where c.table_id = o.table_id
                        and c.kind <> 'upkeep'
                        and c.snapshot_id > o.snapshot
                        and c.snapshot_id <= n.snapshot_id);
end;
$$;
