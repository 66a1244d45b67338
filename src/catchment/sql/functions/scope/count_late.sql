-- count_late: count the late children of this transaction in their scopes.
--
--   locks   see follow_through
--   raises  CM005 the parent accepts no more children
--   plan    walk
create or replace function worker.count_late()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform worker.follow_through(null);
end;
$$;
