-- snoozed_until: when a snoozing task continues: the time (until) or the delay (retry_after) that its handler asked
-- for, by the clock of the engine. At least 100 ms from now, so that a handler that snoozes without end does not keep a
-- worker busy; at most 100 years; a minute if what was asked cannot be read.
create or replace function worker.snoozed_until(
  p_error  jsonb,
  p_now    timestamptz
)
  returns timestamptz
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return least(greatest(coalesce((p_error ->> 'until')::timestamptz, p_now + worker.retry_after(p_error),
                                 p_now + interval '1 minute'),
                        p_now + interval '100 milliseconds'),
               p_now + interval '100 years');
exception
  when data_exception then
    return p_now + interval '1 minute';
end;
$$;
