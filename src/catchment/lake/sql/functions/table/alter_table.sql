-- alter_table: change the properties of a dynamic table: when and how it is refreshed, not its content. A running
-- refresh keeps the old properties. p_change: properties, target_lag (seconds), scheduler, strategy, reason.
--
--   locks   the table's row
--   raises  CM030 the dynamic table is being created, replaced or dropped
create or replace function lake.alter_table(
  p_dt_id   bigint,
  p_change  jsonb
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform lake.refuse_if_replaced(p_dt_id);
  update lake.dt as d
     set properties = p_change -> 'properties',
         target_lag = make_interval(secs => (p_change ->> 'target_lag')::double precision),
         scheduler  = (p_change ->> 'scheduler')::boolean,
         strategy   = p_change ->> 'strategy',
         reason     = p_change ->> 'reason',
         updated_at = worker.now()
   where d.id = p_dt_id
     and d.state in ('active', 'suspended');
  if not found then
    raise exception using
      errcode = 'CM030',
      message = format('table %s is being created or dropped, or does not exist', p_dt_id),
      hint = 'Look at: catchment table list.';
  end if;
  perform lake.set_tick();
end;
$$;
