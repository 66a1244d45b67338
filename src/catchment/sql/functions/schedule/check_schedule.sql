-- check_schedule: refuse a rhythm that could never work, when it is written and not when it is due. A new rhythm counts from now
-- unless the same statement sets a time.
--
--   raises  CM016
create or replace function worker.check_schedule()
  returns trigger
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  c_longest constant interval := '100 years';
begin
  if new.every not between interval '1 second' and c_longest then
    perform worker.refuse_schedule(
      format('schedule %L: every is %s, expected one second to 100 years', new.name, new.every),
      'Give a positive interval such as ''1 hour'', or a cron expression.');
  end if;
  if not exists (select from pg_timezone_names as z where lower(z.name) = lower(new.timezone)) then
    perform worker.refuse_schedule(
      format('schedule %L: time zone %L is unknown', new.name, new.timezone),
      'Use a name such as Europe/Oslo: select name from pg_timezone_names.');
  end if;
  if new.cron is not null then
    perform worker.next_cron(new.cron, new.timezone, worker.now());
  end if;
  if tg_op = 'UPDATE'
     and (new.every, new.cron, new.timezone) is distinct from (old.every, old.cron, old.timezone)
     and new.next_at is not distinct from old.next_at then
    new.next_at := null;
  end if;
  return new;
end;
$$;
