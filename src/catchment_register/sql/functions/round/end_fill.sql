-- end_fill: show a table that children have filled. Indexes that no child has made are made here. Readers do not hold
-- this up: none of it needs the table alone.
--
--   locks   share on the table, until commit
create or replace function register.end_fill(p_report text)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.build_missing_indexes(p_report);
  execute format('alter table register.%I_row reset (autovacuum_enabled)', p_report);
  delete from register.first_fill as f where f.report = p_report;
end;
$$;
