-- notify_import: tell listeners the progress of a job. Sent at commit; equal ones of a transaction are sent once. Texts
-- that people wrote are omitted: a notification has a limited length.
create or replace function register.notify_import(p_job_id integer)
  returns void
  language sql set search_path = pg_catalog, pg_temp
as $$
  select worker.notify('import_job_progress', jsonb_build_object(
           'job_id', p.id, 'state', p.state, 'current_step', p.current_step, 'total_rows', p.total_rows,
           'analysed_rows', p.analysed_rows, 'imported_rows', p.imported_rows, 'error_rows', p.error_rows,
           'warning_rows', p.warning_rows, 'analysis_percent', p.analysis_percent,
           'import_percent', p.import_percent)::text)
    from register.import_job_progress as p
   where p.id = p_job_id;
$$;
