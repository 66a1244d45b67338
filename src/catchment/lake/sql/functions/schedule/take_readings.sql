-- take_readings: count the rows of the sources of a round that have changed. DuckLake may date a delete before its own
-- commit, into a snapshot that others read. Such a delete only takes rows away from it, so a refresh that finds the
-- rows counted here has read what the snapshot was when it was the newest. Sources without a change have the rows that
-- were counted when they were last read. Rows that a client had inlined are in tables that only its user may read:
-- there the first refresh counts, see share_reading.
--
--   returns false when the snapshot of the round is no longer the newest: then the counts are those of another one
create or replace function lake.take_readings(p_round_id bigint)
  returns boolean
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_schemas   text[];
  v_tables    text[];
  v_is_newest boolean;
begin
  select array_agg(c.schema_name), array_agg(c.table_name) into v_schemas, v_tables
    from lake.changed_sources(p_round_id) as c;
  if v_tables is null then
    return true;
  end if;
  -- One statement, which sees one state of the catalog.
  with taken as (
    insert into lake.reading as g (round_id, schema_name, table_name, rows)
    select p_round_id, w.schema_name, w.table_name,
           case when bool_and(i.table_id is null)
                then coalesce(sum(f.record_count), 0)::bigint - coalesce(sum(d.delete_count), 0)::bigint end
      from unnest(v_schemas, v_tables) as w (schema_name, table_name)
      left join lake.ducklake_schema as n on lower(n.schema_name) = w.schema_name and n.end_snapshot is null
      left join lake.ducklake_table as t on t.schema_id = n.schema_id and lower(t.table_name) = w.table_name
                                        and t.end_snapshot is null
      left join (select distinct m.table_id from lake.ducklake_inlined_data_tables as m) as i
        on i.table_id = t.table_id
      left join lake.ducklake_data_file as f on f.table_id = t.table_id and f.end_snapshot is null
      left join lake.ducklake_delete_file as d on d.data_file_id = f.data_file_id and d.end_snapshot is null
     group by w.schema_name, w.table_name
        on conflict (round_id, schema_name, table_name) do update
       set rows = excluded.rows
  )
  select max(s.snapshot_id) = (select o.snapshot from lake.round as o where o.id = p_round_id) into v_is_newest
    from lake.ducklake_snapshot as s;
  return v_is_newest;
end;
$$;
