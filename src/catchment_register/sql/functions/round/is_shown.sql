-- is_shown: whether readers get rows of a published table, named as its view: not during its first fill.
create or replace function register.is_shown(p_report text)
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select not exists (select from register.first_fill as f where f.report = p_report);
$$;
