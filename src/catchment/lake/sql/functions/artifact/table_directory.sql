-- table_directory: the directory of a lake table: an absolute path or a URL, with a slash at the end. Null if the
-- catalog has no such table.
create or replace function lake.table_directory(p_table_id bigint)
  returns text
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select rtrim(case when not t.path_is_relative then t.path
                    when not s.path_is_relative then rtrim(s.path, '/') || '/' || t.path
                    else l.data_path || rtrim(s.path, '/') || '/' || t.path end, '/') || '/'
    from lake.ducklake_table as t
    join lake.ducklake_schema as s on s.schema_id = t.schema_id
   cross join lake.lake as l
   where t.table_id = p_table_id
   order by t.begin_snapshot desc, s.begin_snapshot desc
   limit 1
$$;
