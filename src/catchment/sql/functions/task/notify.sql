-- notify: send a notification, unless the server's notification queue is half full: if it were full, the commit would
-- fail. Listeners also poll, so they find the work without it.
create or replace function worker.notify(
  p_channel  text,
  p_payload  text
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if pg_notification_queue_usage() < 0.5 then
    perform pg_notify(p_channel, p_payload);
  end if;
end;
$$;
