-- is_deriving_statistical_units: whether statistical_unit is not up to date, or being brought up to date. Changes that
-- no round has taken count too, also while a round that broke waits for its next try, and so does a round whose tasks
-- are gone: never idle while stale.
create or replace function register.is_deriving_statistical_units()
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select from register.open_tasks(register.phase_commands('units')))
         or exists (select from register.base_change_log as b where b.round_id is null)
         or exists (select from register.round as r
                     where r.state = 'open' and r.kind in ('changes', 'all', 'direct') and r.flushed_at is null)
         or register.owes_all();
$$;
