-- put_name: the name kept by rename_table comes into force. Called by the guard within the commit that renames the
-- view.
--
--   locks   the table's row
--   raises  CM015 the commit to the lake is refused
create or replace function lake.put_name(p_dt_id bigint)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  update lake.dt as d
     set schema_name = d.next ->> 'schema_name', name = d.next ->> 'name', next = null, updated_at = worker.now()
   where d.id = p_dt_id
     and d.next ? 'name'
     and not d.next ? 'generation';
  if not found then
    perform lake.veto(format('table %s has no new name that waits to come into force', p_dt_id));
  end if;
end;
$$;
