-- last_time: the last time of a schedule that has come at p_now, if p_due is one. Halves the span in which it lies, so
-- its cost does not depend on how many times there were.
--
--   raises  see next_cron
create or replace function worker.last_time(
  p_every     interval,
  p_cron      text,
  p_timezone  text,
  p_due       timestamptz,
  p_now       timestamptz
)
  returns timestamptz
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_seconds numeric := extract(epoch from p_every);
  v_low     timestamptz := greatest(p_due, p_now - interval '100 years');
  v_high    timestamptz := p_now;
  v_middle  timestamptz;
  v_next    timestamptz;
begin
  if p_every is not null then
    return v_low + (floor((extract(epoch from p_now) - extract(epoch from v_low)) / v_seconds)
                    * v_seconds)::double precision * interval '1 second';
  end if;
  v_next := worker.next_cron(p_cron, p_timezone, v_low);
  -- The last time is v_low or later, and none is after v_high.
  while v_next <= p_now and v_high > v_low + interval '1 minute' loop
    v_middle := v_low + (v_high - v_low) / 2;
    v_next := worker.next_cron(p_cron, p_timezone, v_middle);
    if v_next <= p_now then
      v_low := v_next;
    else
      v_high := v_middle;
      v_next := p_now;
    end if;
  end loop;
  return v_low;
end;
$$;
