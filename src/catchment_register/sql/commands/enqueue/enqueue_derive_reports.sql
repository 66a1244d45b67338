-- enqueue_derive_reports: request a rebuild of all reports from the published units.
create or replace function worker.enqueue_derive_reports()
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('derive_reports');
$$;
