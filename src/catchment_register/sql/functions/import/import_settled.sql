-- import_settled: after hook of import_job_process. A job whose task has ended in the middle of its work has failed.
--
--   preparing_data | analysing_data | processing_data -> failed
--   plan    no_jit
create or replace procedure register.import_settled(payload jsonb)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_job_id integer := (payload ->> 'job_id')::integer;
begin
  if payload ? 'step' then
    return;
  end if;
  update register.import_job as j
     set state = 'failed', finished_at = clock_timestamp(), current_step = null,
         error = coalesce(
           (select t.error from worker.tasks as t
             where t.command = 'import_job_process' and t.state = 'failed'
               and t.payload -> 'job_id' = to_jsonb(v_job_id)
             order by t.payload ? 'step' desc, t.id desc limit 1),
           'its task was cancelled')
   where j.id = v_job_id
     and j.state in ('upload_completed', 'preparing_data', 'analysing_data', 'approved', 'processing_data')
     and not exists (select from register.import_job as w where w.state = 'waiting_for_review')
     and not exists (select from worker.open_tasks('{import}', '{import_job_process}') as t
                      where t.payload -> 'job_id' = to_jsonb(v_job_id));
  perform register.notify_import(v_job_id);
  perform worker.notify('worker_status', jsonb_build_object('type', 'is_importing',
                                                            'status', register.is_importing())::text);
end;
$$;
