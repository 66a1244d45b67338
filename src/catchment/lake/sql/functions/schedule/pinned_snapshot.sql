-- pinned_snapshot: the oldest snapshot that is still to be read: what tables were computed from, where their
-- content is, and what open rounds look at. Older ones may expire. The newest snapshot when there is no table.
create or replace function lake.pinned_snapshot()
  returns bigint
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select least((select max(s.snapshot_id) from lake.ducklake_snapshot as s),
               (select min(r.snapshot) from lake.read as r),
               (select min(least(f.data_snapshot, f.commit_snapshot)) from lake.frontier as f),
               (select min(o.snapshot) from lake.round as o where o.closed_at is null),
               (select min(v.commit_snapshot)
                  from lake.version as v
                 where v.data_to >= (select min(o.snapshot) from lake.round as o where o.closed_at is null)))
$$;
