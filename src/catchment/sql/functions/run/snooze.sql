-- snooze: in a SQL handler: end this attempt, undo what it wrote, and run the task again after the delay. It does not
-- count as a failure. The function does not return: it raises CM041, which a handler must not catch.
--
--   raises  CM040 the time to sleep is invalid; CM041 the attempt ends by a snooze; CM042 the session is not running a
--           handler
create or replace function worker.snooze(
  p_delay   interval,
  p_reason  text default null
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := worker.now();
begin
  if p_delay is null or p_delay < interval '0' or p_delay > interval '100 years' then
    raise exception using
      errcode = 'CM040',
      message = format('a task cannot snooze for %s, expected an interval from 0 to 100 years',
                       coalesce(p_delay::text, 'null'));
  end if;
  perform worker.end_by_snooze(v_now + p_delay, p_reason);
end;
$$;
