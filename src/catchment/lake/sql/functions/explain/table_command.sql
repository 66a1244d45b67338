-- table_command: a command line of "catchment table" for a dynamic table, to paste.
create or replace function lake.table_command(
  p_verb   text,
  p_dt_id  bigint
)
  returns text
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select worker.shell_command('catchment table ' || p_verb, format('%I.%I', d.schema_name, d.name))
    from lake.dt as d
   where d.id = p_dt_id
$$;
