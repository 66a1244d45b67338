-- check_schedule: refuse an invalid schedule when it is written, not when it is due. Where the statement sets no time,
-- a new cron expression counts from now, and a new interval fires after one interval at the latest.
--
--   raises  CM016 the schedule could never fire; CM018 an option has an invalid value
create or replace function worker.check_schedule()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_longest constant interval := '100 years';
  v_is_new  boolean := tg_op = 'INSERT' or (new.timezone, new.cron) is distinct from (old.timezone, old.cron);
begin
  if new.every not between interval '1 second' and c_longest then
    perform worker.refuse_schedule(
      format('schedule %L: every is %s, expected one second to 100 years', new.name, new.every),
      'Give a positive interval such as ''1 hour'', or a cron expression.');
  end if;
  -- The list of time zones is read from hundreds of files: once for each zone, however many schedules have it.
  if v_is_new
     and not exists (select from worker.schedule as s where s.timezone = new.timezone)
     and not exists (select from pg_timezone_names as z where lower(z.name) = lower(new.timezone)) then
    perform worker.refuse_schedule(
      format('schedule %L: time zone %L is unknown', new.name, new.timezone),
      'Use a name such as Europe/Oslo: select name from pg_timezone_names.');
  end if;
  perform worker.check_time(new.next_at, format('schedule %L: next_at', new.name),
                            'Leave it out to count from now; set enabled to false to stop the schedule.');
  if v_is_new and new.cron is not null then
    perform worker.next_cron(new.cron, new.timezone, worker.now());
  end if;
  if tg_op = 'UPDATE' and new.next_at is not distinct from old.next_at then
    if (new.cron, new.timezone) is distinct from (old.cron, old.timezone) then
      new.next_at := null;
    elsif new.every is distinct from old.every then
      new.next_at := least(new.next_at, worker.now() + extract(epoch from new.every)::double precision
                           * interval '1 second');
    end if;
  end if;
  return new;
end;
$$;
