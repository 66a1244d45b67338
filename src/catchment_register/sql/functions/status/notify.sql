-- notify: send a notification, unless the server's notification queue is half full: if it were full, the commit would
-- fail. Listeners can read the same from the tables.
create or replace function register.notify(
  p_channel  text,
  p_payload  text
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if pg_notification_queue_usage() < 0.5 then
    perform pg_notify(p_channel, p_payload);
  end if;
end;
$$;
