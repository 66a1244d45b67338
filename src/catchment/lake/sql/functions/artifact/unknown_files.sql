-- unknown_files: the unknown files among these files below a folder: not data files or delete files of any snapshot in
-- the catalog, not scheduled for deletion by DuckLake, and not recorded by a refresh. The folder is the directory of a
-- table, or one above or below it. List the files before this call, so that files written later are not among them.
create or replace function lake.unknown_files(
  p_folder  text,
  p_paths   text[]
)
  returns setof text
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with directory as materialized (
    select d.table_id, d.path
      from (select distinct t.table_id, lake.table_directory(t.table_id) as path from lake.ducklake_table as t) as d
     where starts_with(d.path, p_folder)
        or starts_with(p_folder, d.path)
  ), known as (
    select case when f.path_is_relative then d.path || f.path else f.path end as path
      from lake.ducklake_data_file as f
      join directory as d on d.table_id = f.table_id
     union all
    select case when e.path_is_relative then d.path || e.path else e.path end
      from lake.ducklake_delete_file as e
      join directory as d on d.table_id = e.table_id
     union all
    select f.path from lake.ducklake_data_file as f where not f.path_is_relative
     union all
    select case when g.path_is_relative then l.data_path || g.path else g.path end
      from lake.ducklake_files_scheduled_for_deletion as g
     cross join lake.lake as l
     union all
    select a.path from lake.artifact as a where a.kind <> 'table'
  )
  select p.path
    from unnest(p_paths) as p (path)
   where not exists (select from known as k where k.path = p.path)
   order by p.path
$$;
