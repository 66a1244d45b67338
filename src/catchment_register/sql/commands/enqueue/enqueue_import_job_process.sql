-- enqueue_import_job_process: request that an import job continue. Duplicate requests are merged.
create or replace function worker.enqueue_import_job_process(p_job_id integer)
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('import_job_process', jsonb_build_object('job_id', p_job_id));
$$;
