-- import_process_batch: bring the rows of a batch that have no errors into the register. What analysis did not foresee
-- fails the rows of one unit, not the batch. Rows as read and linked go with it; those with errors or warnings stay to
-- be shown.
--
--   locks   the units of the batch
--   raises  RG013 there is no such import job
--   plan    indexed
create or replace function register.import_process_batch(
  p_job_id     integer,
  p_batch_seq  integer
)
  returns jsonb
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows   integer;
  v_failed integer;
begin
  v_failed := register.import_bisect(p_job_id, p_batch_seq, -2147483648, 2147483647);
  update register.import_batch as b
     set processed_at = clock_timestamp(), error_rows = b.error_rows + v_failed
   where b.job_id = p_job_id and b.batch_seq = p_batch_seq
     and b.analysed_at is not null
  returning b.rows - b.error_rows into v_rows;
  if not found then
    raise exception using
      errcode = 'RG013', message = format('import job %s has no analysed batch %s', p_job_id, p_batch_seq);
  end if;
  delete from register.import_upload as u
   where u.job_id = p_job_id
     and u.row_no = any (array(select d.row_no from register.import_data as d
                                where d.job_id = p_job_id and d.batch_seq = p_batch_seq
                                  and not d.has_error and d.warnings is null));
  delete from register.import_link as l where l.job_id = p_job_id and l.batch_seq = p_batch_seq;
  perform register.notify_import(p_job_id);
  return jsonb_build_object('imported', v_rows, 'failed', v_failed);
end;
$$;
