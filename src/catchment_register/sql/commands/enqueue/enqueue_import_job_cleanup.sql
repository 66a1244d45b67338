-- enqueue_import_job_cleanup: request the deletion of expired import jobs.
create or replace function worker.enqueue_import_job_cleanup()
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('import_job_cleanup');
$$;
