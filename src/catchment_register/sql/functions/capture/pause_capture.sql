-- pause_capture: pause capture for this transaction, because its changes are logged in another way. What counts is a
-- row, which only functions of the owner write; the setting only saves looking for it.
--
--   returns whether this call has paused it, for resume_capture
--   writes  register.capture_pause
--   session sets register.capture
create or replace function register.pause_capture()
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_new boolean;
begin
  insert into register.capture_pause default values on conflict do nothing;
  v_is_new := found;
  perform set_config('register.capture', 'off', true);
  return v_is_new;
end;
$$;
