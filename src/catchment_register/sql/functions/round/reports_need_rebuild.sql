-- reports_need_rebuild: whether a report must be made from all units, because it is marked so, or because today has
-- entered a month that it does not reach: differences alone bring no unchanged unit into a new period.
create or replace function register.reports_need_rebuild()
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select from register.report_state as s
                  where s.applied_flush_id is null
                     or s.through is distinct from register.report_through(register.today()));
$$;
