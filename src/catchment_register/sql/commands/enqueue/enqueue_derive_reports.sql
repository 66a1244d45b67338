-- enqueue_derive_reports: ask for all reports to be rebuilt from the published units.
create or replace function worker.enqueue_derive_reports()
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('derive_reports');
$$;
