-- sleep_until: in a SQL handler: continue if that time has come; else end this attempt, as worker.snooze does, and run
-- the task again at that time.
--
--   raises  CM040 the time to sleep is invalid; CM041 the attempt ends by a snooze; CM042 the session is not running a
--           handler
create or replace function worker.sleep_until(
  p_at      timestamptz,
  p_reason  text default null
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform worker.check_snooze(p_at);
  if p_at > worker.now() then
    perform worker.end_by_snooze(p_at, p_reason);
  end if;
end;
$$;
