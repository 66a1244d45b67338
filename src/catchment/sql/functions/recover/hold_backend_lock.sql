-- hold_backend_lock: take this backend's proof of life: a session lock with a random key. It ends with the backend. The
-- lock counts only together with the backend's pid, because every user can read the key in pg_locks. A handler may have
-- released all advisory locks of its session, so each call takes the lock again; if another session has taken it
-- meanwhile, with a new key.
--
-- The sequence stores the key for this session alone: see own_backend_key.
--
--   session sets worker.backend
create or replace function worker.hold_backend_lock()
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bigint := worker.own_backend_key();
begin
  while v_key is null or not pg_try_advisory_lock(v_key) loop
    v_key := setval('worker.backend', greatest(1, hashtextextended(gen_random_uuid()::text, 0) & 9223372036854775807));
  end loop;
  return v_key;
end;
$$;
