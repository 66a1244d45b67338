-- give_up_replacement: the first refresh of a new definition has ended without success. The table keeps the old one,
-- and the history of what was tried; what was made for the new one in the lake is dropped by a sweep. Nothing happens
-- for other tables.
--
--   active -> dropping
--   locks   the row of the new definition, its refreshes
create or replace function lake.give_up_replacement(p_dt_id bigint)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_replaced bigint;
begin
  update lake.dt as d
     set state = 'dropping', suspended_by = null, suspended_at = null, updated_at = worker.now()
   where d.id = p_dt_id
     and d.replaces is not null
  returning d.replaces into v_replaced;
  if not found then
    return;
  end if;
  update lake.refresh as r set dt_id = v_replaced where r.dt_id = p_dt_id;
  if exists (select from worker.command_registry as c where c.command = 'lake_sweep') then
    perform worker.enqueue('lake_sweep', '{}');
  end if;
end;
$$;
