-- needs_round: whether something waits for a round: logged changes, a derivation of everything that broke, reports that
-- the last round did not bring up to date.
create or replace function register.needs_round()
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select from register.base_change_log as b where b.round_id is null)
         or register.owes_all()
         or (register.reports_are_behind()
             and (select r.state from register.round as r order by r.id desc limit 1) = 'broken');
$$;
