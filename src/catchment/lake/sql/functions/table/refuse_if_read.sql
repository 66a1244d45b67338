-- refuse_if_read: refuse to change a dynamic table that others read. p_message has a place for its name and for theirs.
--
--   locks   the table's row
--   raises  CM029 other dynamic tables read the table
create or replace function lake.refuse_if_read(
  p_dt_id    bigint,
  p_message  text,
  p_hint     text
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_name    text;
  v_readers text;
begin
  select format('%s.%s', d.schema_name, d.name) into v_name from lake.dt as d where d.id = p_dt_id for update;
  select string_agg(case when n.id is null then format('%s.%s', d.schema_name, d.name)
                         else format('the new definition of %s.%s', n.schema_name, n.name) end, ', ' order by d.id)
    into v_readers
    from lake.source as s
    join lake.dt as d on d.id = s.dt_id
    left join lake.dt as n on n.id = d.replaces
   where s.source_dt_id = p_dt_id;
  if v_readers is not null then
    raise exception using errcode = 'CM029', message = format(p_message, v_name, v_readers), hint = p_hint;
  end if;
end;
$$;
