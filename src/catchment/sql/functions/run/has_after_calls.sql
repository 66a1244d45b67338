-- has_after_calls: are after hooks due?
create or replace function worker.has_after_calls()
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
return exists (select from worker.after_call);
