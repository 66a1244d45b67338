-- now: the engine's clock. A test moves it with: select set_config('worker.now', '2030-01-01', true). Only a user who
-- may run tasks can; for others it is the server's clock, whatever they set.
--
--   session reads worker.now
create or replace function worker.now()
  returns timestamptz
  language sql volatile
return case
         when coalesce(pg_catalog.current_setting('worker.now', true), '') = '' then pg_catalog.clock_timestamp()
         when pg_catalog.has_function_privilege(session_user, 'worker.release_task(bigint, bigint)', 'execute')
              and pg_catalog.isfinite(pg_catalog.current_setting('worker.now')::timestamptz)
           then pg_catalog.current_setting('worker.now')::timestamptz
         else pg_catalog.clock_timestamp()
       end;
