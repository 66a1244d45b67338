-- finish_upload: end the upload of a job, so that a worker can start. Text of the rows is trimmed, and null where a
-- cell is empty.
--
--   waiting_for_upload -> upload_completed
--   raises  RG012 the import job is in another state; RG013 there is no such import job
create or replace function register.finish_upload(p_job_id integer)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows integer;
begin
  select count(*) into v_rows from register.import_upload as u where u.job_id = p_job_id;
  update register.import_job as j
     set state = 'upload_completed', total_rows = v_rows, uploaded_at = clock_timestamp()
   where j.id = p_job_id
     and j.state = 'waiting_for_upload';
  if not found then
    raise exception using
      errcode = case when exists (select from register.import_job as j where j.id = p_job_id) then 'RG012'
                     else 'RG013' end,
      message = coalesce((select format('import job %s does not wait for an upload, it is %s', p_job_id, j.state)
                            from register.import_job as j where j.id = p_job_id),
                                 format('there is no import job %s', p_job_id)),
      hint = 'Make a new job for more rows.';
  end if;
  perform register.notify_import(p_job_id);
  perform worker.enqueue_import_job_process(p_job_id);
  return v_rows;
end;
$$;
