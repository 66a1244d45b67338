-- scan_changes: note which tables the new snapshots of the lake have touched. Snapshots commit in the order of their
-- ids, so none is missed. A name in the catalog's text can look like an entry of ours: that can only make a table seem
-- changed.
--
--   returns the newest snapshot
--   locks   the lake's row, if there is something new
create or replace function lake.scan_changes()
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_head    bigint := (select max(s.snapshot_id) from lake.ducklake_snapshot as s);
  v_scanned bigint := (select l.scanned_snapshot from lake.lake as l);
begin
  if v_head <= v_scanned then
    return v_head;
  end if;
  select l.scanned_snapshot into v_scanned from lake.lake as l for update;
  insert into lake.change (table_id, snapshot_id, kind)
  select distinct m.parts[2]::bigint, c.snapshot_id,
         case when m.parts[1] in ('inserted_into_table', 'deleted_from_table') then 'data'
              when m.parts[1] like 'inline%' then 'inlined'
              when m.parts[1] in ('altered_table', 'dropped_table') then 'ddl'
              else 'upkeep' end
    from lake.ducklake_snapshot_changes as c
   cross join lateral regexp_matches(c.changes_made, '([a-z_]+):([0-9]+)', 'g') as m (parts)
   where c.snapshot_id > v_scanned
     and c.snapshot_id <= v_head
   union
  -- A table with a new name says nothing of its id there, but has a second row in the catalog.
  select t.table_id, t.begin_snapshot, 'ddl'
    from lake.ducklake_table as t
   where t.begin_snapshot > v_scanned
     and t.begin_snapshot <= v_head
     and exists (select from lake.ducklake_table as p where p.table_id = t.table_id
                    and p.begin_snapshot < t.begin_snapshot)
   union
  -- Of snapshots that expired before they were looked at nobody knows what they did: any source may have changed, in
  -- the first of them already.
  select s.table_id, k.snapshot, k.kind
    from lake.source as s
   cross join (values ('data', v_scanned + 1), ('data', v_head), ('upkeep', v_head)) as k (kind, snapshot)
   where (s.source_dt_id is null or k.kind = 'upkeep')
     and (select count(*)
            from lake.ducklake_snapshot as n
           where n.snapshot_id > v_scanned
             and n.snapshot_id <= v_head) < v_head - v_scanned
      on conflict do nothing;
  update lake.lake as l set scanned_snapshot = v_head where l.scanned_snapshot < v_head;
  return v_head;
end;
$$;
