-- hold_schedule: the schedule of this name, locked until the end of the transaction.
--
--   locks   the schedule row
--   raises  CM018 an option has an invalid value
create or replace function worker.hold_schedule(p_name text)
  returns worker.schedule
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule worker.schedule;
begin
  select s.* into v_schedule from worker.schedule as s where s.name = p_name for update;
  if not found then
    perform worker.refuse_unknown_schedule(p_name);
  end if;
  return v_schedule;
end;
$$;
