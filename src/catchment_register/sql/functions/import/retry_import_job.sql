-- retry_import_job: a failed job resumes where it stopped; batches that were done stay done.
--
--   failed -> preparing_data | analysing_data | processing_data
--   raises  RG012 the import job is in another state; RG013 there is no such import job
create or replace function register.retry_import_job(p_job_id integer)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_state text;
begin
  update register.import_job as j
     set error = null, finished_at = null,
         state = case when j.processing_start_at is not null then 'processing_data'
                      when exists (select from register.import_batch as b where b.job_id = j.id) then 'analysing_data'
                      else 'preparing_data' end
   where j.id = p_job_id
     and j.state = 'failed'
  returning j.state into v_state;
  if not found then
    raise exception using
      errcode = case when exists (select from register.import_job as j where j.id = p_job_id) then 'RG012'
                     else 'RG013' end,
      message = coalesce((select format('import job %s has not failed, it is %s', p_job_id, j.state)
                            from register.import_job as j where j.id = p_job_id),
                                 format('there is no import job %s', p_job_id));
  end if;
  perform worker.enqueue_import_job_process(p_job_id);
  perform register.notify_import(p_job_id);
  return v_state;
end;
$$;
