-- is_capture_paused: has this transaction paused capture? Called only if the setting register.capture says so, which is
-- a hint that every session can set.
--
--   reads   register.capture_pause
create or replace function register.is_capture_paused()
  returns boolean
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select from register.capture_pause as p where p.xact = pg_current_xact_id_if_assigned());
$$;
