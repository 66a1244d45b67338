-- import_job_process: handler. Payload {job_id}: take the job one step further; each step commits by itself and is
-- followed by the next. Payload {job_id, step, batch_seq}: one batch, a child of the step. No unit is in two batches,
-- so their order and number side by side do not matter.
--
--   upload_completed   -> preparing_data
--   preparing_data     -> analysing_data                                      rows linked to units, batches cut
--   analysing_data     -> waiting_for_review | processing_data | finished     when every batch is analysed, else they
--                      are spawned
--   approved           -> processing_data
--   processing_data    -> finished                                            when every batch is processed, else they
--                      are spawned
--
-- While a job waits for a review the others wait too: they may build on what it brings. resolve_review asks for them
-- again.
--
--   locks   the job row
--   raises  RG013 there is no such import job
--   plan    no_jit
create or replace procedure register.import_job_process(payload jsonb, inout info jsonb)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_job_id integer := (payload ->> 'job_id')::integer;
  v_batch  integer := (payload ->> 'batch_seq')::integer;
  v_job    register.import_job;
begin
  case payload ->> 'step'
    when 'analyse' then
      info := register.import_analyse_batch(v_job_id, v_batch);
      return;
    when 'process' then
      info := register.import_process_batch(v_job_id, v_batch);
      return;
    else
      null;
  end case;

  select j.* into v_job from register.import_job as j where j.id = v_job_id for no key update;
  if not found then
    raise exception using
      errcode = 'RG013', message = format('there is no import job %s', payload ->> 'job_id'),
      hint = 'It has expired or was deleted.';
  end if;
  info := jsonb_build_object('from', v_job.state);
  if v_job.state in ('upload_completed', 'preparing_data', 'analysing_data', 'processing_data')
     and exists (select from register.import_job as j where j.state = 'waiting_for_review' and j.id <> v_job_id) then
    info := info || '{"held": true}';
    return;
  end if;

  case v_job.state
    when 'upload_completed' then
      update register.import_job as j
         set state = 'preparing_data', analysis_start_at = clock_timestamp()
       where j.id = v_job_id;
    when 'preparing_data' then
      info := info || register.import_prepare(v_job_id);
      update register.import_job as j set state = 'analysing_data' where j.id = v_job_id;
    when 'analysing_data' then
      if not register.spawn_batches(v_job_id, 'analyse') then
        perform register.conclude_analysis(v_job_id);
      end if;
    when 'approved' then
      update register.import_job as j
         set state = 'processing_data', processing_start_at = clock_timestamp()
       where j.id = v_job_id;
    when 'processing_data' then
      if not register.spawn_batches(v_job_id, 'process') then
        perform register.finish_import(v_job_id);
      end if;
    when 'waiting_for_upload', 'waiting_for_review', 'rejected', 'finished', 'failed' then
      null;
  end case;

  select j.* into v_job from register.import_job as j where j.id = v_job_id;
  if v_job.state in ('preparing_data', 'analysing_data', 'processing_data') then
    perform worker.follow_up('import_job_process', jsonb_build_object('job_id', v_job_id));
  end if;
  info := info || jsonb_build_object('to', v_job.state);
  perform register.notify_import(v_job_id);
end;
$$;
