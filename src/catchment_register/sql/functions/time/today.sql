-- today: the day that everything derived refers to: the session's setting register.today, else that of the register,
-- else the clock. Days begin at midnight UTC, wherever a session is.
--
--   session reads register.today
create or replace function register.today()
  returns date
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select coalesce(nullif(current_setting('register.today', true), '')::date,
                  (select s.today from register.settings as s),
                  (worker.now() at time zone 'UTC')::date);
$$;
