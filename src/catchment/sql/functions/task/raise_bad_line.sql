-- raise_bad_line: refuse a lane that is empty or too long, or a trace that is too long. Callers check first, so that
-- valid ones cost nothing.
--
--   raises  CM018 an option has an invalid value
create or replace function worker.raise_bad_line(
  p_command  text,
  p_lane     text,
  p_trace    text
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if p_lane = '' then
    raise exception using
      errcode = 'CM018',
      message = format('the lane of %s is empty', p_command),
      hint = 'Leave it out, or give null, for a task without a lane.';
  elsif length(p_lane) > 500 then
    raise exception using
      errcode = 'CM018',
      message = format('the lane of %s has %s characters, at most 500 are taken', p_command, length(p_lane)),
      hint = 'Use a key, or a hash of what it is made from.';
  elsif length(p_trace) > 200 then
    raise exception using
      errcode = 'CM018',
      message = format('the trace of %s has %s characters, at most 200 are taken', p_command, length(p_trace)),
      hint = 'It is a W3C traceparent, of 55 characters.';
  end if;
end;
$$;
