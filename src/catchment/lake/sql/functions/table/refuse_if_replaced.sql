-- refuse_if_replaced: refuse to change a dynamic table while a new definition of it is being filled: that takes its
-- place as it was requested.
--
--   raises  CM030 the dynamic table is being created, replaced or dropped
create or replace function lake.refuse_if_replaced(p_dt_id bigint)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from lake.dt as d where d.replaces = p_dt_id and d.state <> 'dropping') then
    raise exception using
      errcode = 'CM030',
      message = format('dynamic table %s is being replaced',
                       (select format('%s.%s', d.schema_name, d.name) from lake.dt as d where d.id = p_dt_id)),
      hint = 'Wait until its new definition is filled, or stop that: catchment table cancel.';
  end if;
end;
$$;
