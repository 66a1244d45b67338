-- import_analyse_batch: analyse the rows of a batch: codes, dates, numbers and problems. The register does not change.
-- Run again, it starts over.
--
--   raises  RG013 there is no such import job
create or replace function register.import_analyse_batch(
  p_job_id     integer,
  p_batch_seq  integer
)
  returns jsonb
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_mode     text;
  v_repeats  boolean;
  v_errors   integer;
  v_warnings integer;
begin
  select j.snapshot ->> 'mode', j.snapshot ->> 'mode' = 'legal_relationship'
    or not (j.snapshot ->> 'unique_units')::boolean
    into v_mode, v_repeats
    from register.import_job as j
   where j.id = p_job_id;
  delete from register.import_data as d where d.job_id = p_job_id and d.batch_seq = p_batch_seq;
  case v_mode
    when 'legal_unit', 'establishment_formal', 'establishment_informal', 'generic_unit' then
      perform register.analyse_units(p_job_id, p_batch_seq);
    when 'legal_relationship' then
      perform register.analyse_relationships(p_job_id, p_batch_seq);
  end case;
  if v_repeats then
    perform register.warn_overlaps(p_job_id, p_batch_seq);
  end if;

  select count(*) filter (where d.has_error), count(*) filter (where d.warnings is not null) into v_errors, v_warnings
    from register.import_data as d
   where d.job_id = p_job_id and d.batch_seq = p_batch_seq;
  if v_errors > 0 then
    v_errors := v_errors + register.fail_families(p_job_id, p_batch_seq);
  end if;
  update register.import_batch as b
     set analysed_at = clock_timestamp(), error_rows = v_errors, warning_rows = v_warnings
   where b.job_id = p_job_id and b.batch_seq = p_batch_seq;
  if not found then
    raise exception using errcode = 'RG013', message = format('import job %s has no batch %s', p_job_id, p_batch_seq);
  end if;
  perform register.notify_import(p_job_id);
  return jsonb_build_object('errors', v_errors, 'warnings', v_warnings);
end;
$$;
