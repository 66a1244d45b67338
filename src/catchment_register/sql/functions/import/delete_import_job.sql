-- delete_import_job: delete a job and its rows; imported data stay in the register. A job that is being processed must
-- end first.
--
--   raises  RG012 the import job is in another state; RG013 there is no such import job
create or replace function register.delete_import_job(p_job_id integer)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_state text;
begin
  select j.state into v_state from register.import_job as j where j.id = p_job_id for update;
  if v_state is null or v_state in ('preparing_data', 'analysing_data', 'approved', 'processing_data') then
    raise exception using
      errcode = case when v_state is null then 'RG013' else 'RG012' end,
      message = case when v_state is null then format('there is no import job %s', p_job_id)
                     else format('import job %s is at work: %s', p_job_id, v_state) end,
      hint = 'A job can be deleted before its upload, while it waits for a review, and when it has ended.';
  end if;
  delete from register.import_upload as u where u.job_id = p_job_id;
  delete from register.import_link as l where l.job_id = p_job_id;
  delete from register.import_data as d where d.job_id = p_job_id;
  delete from register.import_batch as b where b.job_id = p_job_id;
  delete from register.import_job as j where j.id = p_job_id;
  -- A review that others wait for is over with its job.
  if v_state = 'waiting_for_review' then
    perform worker.enqueue_import_job_process(j.id)
       from (select j.id from register.import_job as j
              where j.state in ('upload_completed', 'preparing_data', 'analysing_data', 'approved', 'processing_data')
              order by j.id) as j;
  end if;
  perform worker.notify('import_job', jsonb_build_object('verb', 'DELETE', 'id', p_job_id)::text);
end;
$$;
