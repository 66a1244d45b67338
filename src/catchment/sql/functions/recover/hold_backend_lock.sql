-- hold_backend_lock: this backend's proof of life: a session lock with a random key, which nobody else has or can guess.
-- It ends with the backend. Only this backend's pid beside the key is proof: pg_locks shows the key to anybody. A
-- handler may have given up all advisory locks of its session, so each call takes it again.
create or replace function worker.hold_backend_lock()
  returns bigint
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bigint := nullif(current_setting('worker.backend_key', true), '')::bigint;
begin
  if v_key is null then
    v_key := hashtextextended(gen_random_uuid()::text, 0);
    perform set_config('worker.backend_key', v_key::text, false);
  end if;
  perform pg_advisory_lock(v_key);
  return v_key;
end;
$$;
