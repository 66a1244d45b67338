-- remove_table: delete the row of a dynamic table. Called by the guard within the commit that drops it from the lake;
-- or by itself, when the lake has it no more. One that is gone stays so.
--
--   dropping -> gone
--   locks   the table's row
--   raises  CM015 the commit to the lake is refused
create or replace function lake.remove_table(p_dt_id bigint)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from lake.dt as d where d.id = p_dt_id and d.state = 'dropping';
  if not found and exists (select from lake.dt as d where d.id = p_dt_id) then
    perform lake.veto(format('table %s is not being dropped', p_dt_id));
  end if;
end;
$$;
