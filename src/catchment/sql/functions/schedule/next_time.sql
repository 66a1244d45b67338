-- next_time: when a schedule fires next: the first time after p_now. Missed times are skipped: the run that is due
-- makes up for them. An interval keeps its phase: it is added to the previous time, not to p_now. Its days have 24
-- hours and its months 30 days.
--
--   raises  see next_cron
create or replace function worker.next_time(
  p_every     interval,
  p_cron      text,
  p_timezone  text,
  p_previous  timestamptz,
  p_now       timestamptz
)
  returns timestamptz
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_seconds numeric := extract(epoch from p_every);
begin
  if p_every is null then
    return worker.next_cron(p_cron, p_timezone, p_now);
  elsif p_previous is null or not isfinite(p_previous) then
    return p_now + v_seconds::double precision * interval '1 second';
  end if;
  return p_previous
         + ((floor((extract(epoch from p_now) - extract(epoch from p_previous)) / v_seconds) + 1)
            * v_seconds)::double precision
           * interval '1 second';
end;
$$;
