-- hold_backend_lock: this backend's proof of life, a session lock whose key is made of its pid and its start.
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
    select hashtextextended(a.pid || '/' || a.backend_start, 0) into v_key
      from pg_stat_activity as a
     where a.pid = pg_backend_pid();
    perform pg_advisory_lock(v_key);
    perform set_config('worker.backend_key', v_key::text, false);
  end if;
  return v_key;
end;
$$;
