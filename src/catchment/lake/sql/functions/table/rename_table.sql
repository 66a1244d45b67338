-- rename_table: keep the new name of a dynamic table until the commit that renames its view puts it into force. Only
-- under the commit lock.
--
--   locks   the table's row
--   raises  CM014 a dynamic table of this name exists; CM029 other dynamic tables read the table; CM030 the dynamic
--           table is being created, replaced or dropped
create or replace function lake.rename_table(
  p_dt_id   bigint,
  p_schema  text,
  p_name    text
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform lake.refuse_if_replaced(p_dt_id);
  perform lake.refuse_if_read(p_dt_id, 'dynamic table %s is read under its name by %s',
                              'Create a table of the new name, CREATE OR REPLACE those to read it, and drop this one.');
  if exists (select from lake.dt as d
              where d.id <> p_dt_id
                and lower(d.schema_name) = lower(p_schema)
                and lower(d.name) = lower(p_name)) then
    raise exception using
      errcode = 'CM014',
      message = format('dynamic table %s.%s exists', p_schema, p_name),
      hint = 'Choose another name, or drop it first.';
  end if;
  update lake.dt as d
     set next = jsonb_build_object('schema_name', p_schema, 'name', p_name)
   where d.id = p_dt_id
     and d.state in ('active', 'suspended');
end;
$$;
