-- end_by_snooze: end the handler by an error that carries what run_handler needs.
--
--   raises  CM041 the attempt ends by a snooze; CM042 the session is not running a handler
create or replace function worker.end_by_snooze(
  p_until   timestamptz,
  p_reason  text
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if worker.current_task_id() is null then
    raise exception using
      errcode = 'CM042',
      message = 'there is no task to snooze: no handler is running here',
      hint = 'A worker of Python tasks uses worker.snooze_task.';
  end if;
  raise exception using
    errcode = 'CM041',
    message = coalesce(nullif(left(p_reason, 2000), ''), 'snoozed'),
    detail = to_jsonb(p_until) #>> '{}', -- however the handler has set DateStyle
    hint = 'This ends the attempt: a handler that catches all errors has to raise this one again.';
end;
$$;
