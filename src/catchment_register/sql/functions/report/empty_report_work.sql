-- empty_report_work: before a round stages anything for its reports, what a broken one may have left there goes. Tables that have
-- grown are truncated: small rounds would read their dead rows for long.
--
--   locks   access exclusive on what it truncates; none but reports of the one open round use it
create or replace function register.empty_report_work()
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  c_small constant bigint := 1048576;
begin
  delete from register.staging_mark;
  if pg_relation_size('register.report_cell') > c_small then
    truncate register.report_cell;
  else
    delete from register.report_cell;
  end if;
  if pg_relation_size('register.statistical_history_facet_staging') > c_small then
    truncate register.statistical_history_facet_staging;
  else
    delete from register.statistical_history_facet_staging;
  end if;
  delete from register.statistical_history_staging;
end;
$$;
