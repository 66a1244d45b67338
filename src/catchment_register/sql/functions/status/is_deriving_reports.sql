-- is_deriving_reports: whether reports are being brought up to date: a stage of theirs is due, the round that will come
-- to them is open, or they are behind and a round has not brought them up to date. Reports that a round was not asked
-- for are not waited for: those of a new month until its first collection, those that derive_now omits.
create or replace function register.is_deriving_reports()
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select from register.open_tasks(register.phase_commands('reports')))
         or exists (select from register.round as r
                     where r.state = 'open' and (r.kind in ('reports', 'roll') or r.flushed_at is not null))
         or ((select r.state from register.round as r order by r.id desc limit 1) <> 'done'
             and register.reports_are_behind());
$$;
