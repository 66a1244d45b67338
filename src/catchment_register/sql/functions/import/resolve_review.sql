-- resolve_review: record the review of a job that waits for it. If it is rejected, nothing is imported and its rows
-- stay visible; if it is approved, its rows without errors are imported. Jobs that waited for it continue in their
-- order.
--
--   waiting_for_review -> approved | rejected
--   raises  RG012 the import job is in another state; RG013 there is no such import job
create or replace function register.resolve_review(
  p_job_id    integer,
  p_approves  boolean,
  p_by        text default session_user
)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_state text;
begin
  update register.import_job as j
     set state = case when p_approves then 'approved' else 'rejected' end,
         reviewed_at = clock_timestamp(), reviewed_by = p_by,
         current_step = null, finished_at = case when not p_approves then clock_timestamp() end
   where j.id = p_job_id
     and j.state = 'waiting_for_review'
     and p_approves is not null
  returning j.state into v_state;
  if not found then
    raise exception using
      errcode = case when exists (select from register.import_job as j where j.id = p_job_id) then 'RG012'
                     else 'RG013' end,
      message = coalesce((select format('import job %s does not wait for a review, it is %s', p_job_id, j.state)
                            from register.import_job as j where j.id = p_job_id),
                                 format('there is no import job %s', p_job_id));
  end if;
  perform worker.enqueue_import_job_process(j.id)
     from (select j.id from register.import_job as j
            where j.state in ('upload_completed', 'preparing_data', 'analysing_data', 'approved', 'processing_data')
            order by j.id = p_job_id desc, j.id) as j;
  perform worker.notify('import_job', jsonb_build_object('verb', 'UPDATE', 'id', p_job_id)::text);
  perform register.notify_import(p_job_id);
  return v_state;
end;
$$;
