-- drop_table: mark a dynamic table that is about to be dropped from the lake. It is no longer refreshed; the commit
-- that drops it removes the row. If that commit never comes, drop the table again.
--
--   any -> dropping
--   locks   the table's row
--   raises  CM029 other dynamic tables read the table
create or replace function lake.drop_table(p_dt_id bigint)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform lake.refuse_if_read(p_dt_id, 'dynamic table %s is read by %s',
                              'Drop those first, or all of them with --cascade.');
  update lake.dt as d
     set state = 'dropping', suspended_by = null, suspended_at = null, updated_at = worker.now()
   where d.id = p_dt_id;
end;
$$;
