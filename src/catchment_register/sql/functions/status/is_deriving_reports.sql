-- is_deriving_reports: whether reports are being brought up to date: a stage of theirs is due, or the round that will come to them
-- is open.
create or replace function register.is_deriving_reports()
  returns boolean
  language sql
  stable
  security definer
  set search_path = pg_catalog, pg_temp
as $$
  select exists (select from register.open_tasks(register.phase_commands('reports')))
         or exists (select from register.round as r where r.state = 'open' and r.flushed_at is not null);
$$;
