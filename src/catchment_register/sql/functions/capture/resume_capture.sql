-- resume_capture: capture changes again, if the matching pause_capture, which returned p_is_mine, has paused it.
--
--   writes  register.capture_pause
--   session sets register.capture
create or replace function register.resume_capture(p_is_mine boolean)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if p_is_mine then
    delete from register.capture_pause as p where p.xact = pg_current_xact_id();
    perform set_config('register.capture', '', true);
  end if;
end;
$$;
