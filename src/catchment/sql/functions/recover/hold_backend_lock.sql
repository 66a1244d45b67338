-- hold_backend_lock: this backend's proof of life: a session lock with a random key, which nobody else has or can guess.
-- It ends with the backend. Only this backend's pid beside the key is proof: pg_locks shows the key to anybody. A handler may
-- have given up all advisory locks of its session, so each call takes it again, and another key if a stranger was quicker.
--
-- The sequence is where PostgreSQL remembers the key for this session alone: see own_backend_key.
create or replace function worker.hold_backend_lock()
  returns bigint
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
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
