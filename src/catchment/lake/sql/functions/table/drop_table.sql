-- drop_table: a dynamic table is about to be dropped from the lake. It is not refreshed any more; the commit that drops
-- it removes the row. If that commit never comes, drop it again.
--
--   any -> dropping
--   locks   the table's row
--   raises  CM014 while other dynamic tables read it
create or replace function lake.drop_table(
  p_dt_id  bigint
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_readers text;
begin
  perform d.id from lake.dt as d where d.id = p_dt_id for update;
  select string_agg(format('%s.%s', d.schema_name, d.name), ', ' order by d.id) into v_readers
    from lake.source as s
    join lake.dt as d on d.id = s.dt_id
   where s.source_dt_id = p_dt_id;
  if v_readers is not null then
    raise exception using
      errcode = 'CM014',
      message = format('dynamic table %s is read by %s',
                       (select format('%s.%s', d.schema_name, d.name) from lake.dt as d where d.id = p_dt_id),
                       v_readers),
      hint = 'Drop those first, or all of them with --cascade.';
  end if;
  update lake.dt as d
     set state = 'dropping', suspended_by = null, updated_at = worker.now()
   where d.id = p_dt_id;
end;
$$;
