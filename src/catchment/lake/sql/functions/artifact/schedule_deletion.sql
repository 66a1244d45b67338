-- schedule_deletion: put files that the catalog does not know on DuckLake's list of files to delete, as the oldest of
-- all; for stores where only DuckLake can remove a file.
create or replace function lake.schedule_deletion(p_paths text[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into lake.ducklake_files_scheduled_for_deletion (data_file_id, path, path_is_relative, schedule_start)
  select nextval('lake.deletion'), p.path, false, '1970-01-02 00:00:00+00'
    from unnest(p_paths) as p (path);
end;
$$;
