-- crowded: active dynamic tables that should be compacted, because they have many files or a large share of deleted
-- rows; or one table, whatever its state. The thresholds are in lake.lake.
create or replace function lake.crowded(p_dt_id bigint default null)
  returns setof bigint
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select d.id
    from lake.dt as d
    join lake.ducklake_data_file as f on f.table_id = d.physical_id and f.end_snapshot is null
    left join lake.ducklake_delete_file as e on e.data_file_id = f.data_file_id and e.end_snapshot is null
   cross join lake.lake as l
   where case when p_dt_id is null then d.state = 'active' else d.id = p_dt_id end
   group by d.id, l.compact_files, l.compact_deletes
  having count(*) > l.compact_files * greatest(1, d.buckets)
      or sum(e.delete_count) > l.compact_deletes * sum(f.record_count)
$$;
