-- pause_before_try: wait before retrying a SQL handler after a deadlock or a serialization failure, longer each time.
create or replace function worker.pause_before_try(p_try integer)
  returns void
  language sql set search_path = pg_catalog, pg_temp
as $$
  select pg_sleep(0.1 * 2 ^ p_try + random() * 0.05);
$$;
