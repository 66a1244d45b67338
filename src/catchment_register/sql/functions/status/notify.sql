-- notify: send a notification, unless the server's queue for them is half full: a full one would make the transaction fail at its
-- commit. The tables say the same as the notifications.
create or replace function register.notify(
  p_channel  text,
  p_payload  text
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if pg_notification_queue_usage() < 0.5 then
    perform pg_notify(p_channel, p_payload);
  end if;
end;
$$;
