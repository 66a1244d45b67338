-- find_physical: the catalog's id of the table that holds a generation of a dynamic table, or null.
create or replace function lake.find_physical(
  p_dt_id       bigint,
  p_generation  integer
)
  returns bigint
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (select t.table_id
            from lake.ducklake_table as t
            join lake.ducklake_schema as s on s.schema_id = t.schema_id
           where s.schema_name = 'dt'
             and s.end_snapshot is null
             and t.table_name = format('t%sg%s', p_dt_id, p_generation)
             and t.end_snapshot is null);
end;
$$;
