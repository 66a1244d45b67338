-- check_time: whether a time is valid for a task, a queue or a schedule. Programs cannot read times beyond these years,
-- and cannot calculate with infinity.
--
--   returns false, so that it can stand in a condition
--   raises  CM018 an option has an invalid value
create or replace function worker.check_time(
  p_at      timestamptz,
  p_column  text default 'scheduled_at',
  p_hint    text default 'Leave it out for a task that is due at once; pause the queue to hold tasks back without a '
                         'date.'
)
  returns boolean
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_at < timestamptz '0001-01-03 00:00:00+00' or p_at > timestamptz '9999-12-29 00:00:00+00' then
    raise exception using
      errcode = 'CM018',
      message = format('%s is %s, expected a time from 0001-01-03 to 9999-12-29', p_column, p_at),
      hint = p_hint;
  end if;
  return false;
end;
$$;
