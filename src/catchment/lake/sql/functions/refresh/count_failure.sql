-- count_failure: a refresh has failed. In a scheduled round it counts, and the last of too many in a row suspends the
-- table.
--
--   locks   the table's row, then those below it
create or replace function lake.count_failure(p_refresh lake.refresh)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_streak integer;
begin
  update lake.dt as d
     set error_streak = d.error_streak + 1
    from lake.round as o
   where d.id = p_refresh.dt_id
     and o.id = p_refresh.round_id
     and o.trigger = 'scheduled'
  returning d.error_streak into v_streak;
  if v_streak >= (select l.max_failures from lake.lake as l) then
    perform lake.suspend(p_refresh.dt_id, 'failures');
  end if;
end;
$$;
