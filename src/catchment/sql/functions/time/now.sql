-- now: the engine's clock. A test moves it with: select set_config('worker.now', '2030-01-01', true).
create or replace function worker.now()
  returns timestamptz
  language sql
  volatile
return coalesce(nullif(pg_catalog.current_setting('worker.now', true), '')::timestamptz, pg_catalog.clock_timestamp());
