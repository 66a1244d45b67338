-- note_directory: record the directory of a refresh that was about to commit and will not. Its transaction may have
-- written files into the directory of its table, under names that only DuckLake knew: the directory is noted, and a
-- sweep compares it with the catalog. The state PUBLISHING is the note that was there before the first file; with any
-- other state nothing happens.
--
--   locks   the row of the artifact
create or replace function lake.note_directory(p_refresh_id bigint)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select lake.note_artifacts(r.id, coalesce(r.task_id, 0), r.fence, 'table', array[lake.table_directory(d.physical_id)])
    from lake.refresh as r
    join lake.dt as d on d.id = r.dt_id
   where r.id = p_refresh_id
     and r.state = 'PUBLISHING'
     and d.physical_id is not null
$$;
