-- reports_are_behind: whether units have been published that a report does not show, or today is in a month that it
-- does not reach. A register that never had a unit has no reports to be behind.
create or replace function register.reports_are_behind()
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select (exists (select from register.statistical_unit_row) or exists (select from register.statistical_history_row))
         and exists (select from register.report_state as s
                      where s.applied_flush_id is null
                         or s.through is distinct from register.report_through(register.today())
                         or exists (select from register.statistical_unit_change as c
                                     where c.flush_id > s.applied_flush_id));
$$;
