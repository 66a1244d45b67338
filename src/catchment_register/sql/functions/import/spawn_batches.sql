-- spawn_batches: a child for each batch that has not done this step. False when all have.
create or replace function register.spawn_batches(
  p_job_id  integer,
  p_step    text
)
  returns boolean
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_payloads jsonb[];
begin
  select array_agg(jsonb_build_object('job_id', p_job_id, 'step', p_step, 'batch_seq', b.batch_seq)
                   order by b.batch_seq)
    into v_payloads
    from register.import_batch as b
   where b.job_id = p_job_id
     and case p_step when 'analyse' then b.analysed_at is null when 'process' then b.processed_at is null end;
  if v_payloads is null then
    return false;
  end if;
  perform worker.spawn_many('import_job_process', v_payloads);
  return true;
end;
$$;
