-- lock_patience: how long a handler in a batch waits for a lock: the engine's limit, or the session's lock_timeout if
-- that is shorter.
--
--   session reads lock_timeout
create or replace function worker.lock_patience(p_patience interval)
  returns text
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case
           when current_setting('lock_timeout')::interval between interval '1 millisecond' and p_patience
             then current_setting('lock_timeout')
           else extract(milliseconds from p_patience)::integer || 'ms'
         end;
$$;
