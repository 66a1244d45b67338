-- import_started: before hook of import_job_process; commits with the claim, so that users see the new state at once.
--
--   plan    no_jit
create or replace procedure register.import_started(payload jsonb)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not payload ? 'step' then
    update register.import_job as j
       set current_step = case j.state when 'upload_completed'   then 'preparing'
                                       when 'preparing_data'     then 'linking rows to units'
                                       when 'analysing_data'     then 'analysing'
                                       when 'waiting_for_review' then 'waiting for review'
                                       when 'approved'           then 'processing'
                                       when 'processing_data'    then 'processing'
                          end
     where j.id = (payload ->> 'job_id')::integer;
    perform worker.notify('worker_status', '{"type": "is_importing", "status": true}');
    perform register.notify_import((payload ->> 'job_id')::integer);
  end if;
end;
$$;
