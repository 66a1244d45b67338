-- import_prepare: determine what depends on the whole file: the activities it needs, the unit of each row, and the rows
-- of each batch. Run again, it starts over.
--
--   plan    small_sample
create or replace function register.import_prepare(p_job_id integer)
  returns jsonb
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_mode       text;
  v_activities integer;
  v_batches    integer;
  v_rows       integer;
begin
  delete from register.import_link as l where l.job_id = p_job_id;
  delete from register.import_batch as b where b.job_id = p_job_id;
  select j.snapshot ->> 'mode', j.total_rows into v_mode, v_rows from register.import_job as j where j.id = p_job_id;
  -- Many rows that were just copied have no planner statistics yet.
  if v_rows > 1000 then
    analyze register.import_upload (job_id, row_no);
  end if;
  v_activities := register.ensure_activities(p_job_id);
  case v_mode
    when 'legal_unit', 'establishment_formal', 'establishment_informal', 'generic_unit' then
      perform register.link_units(p_job_id);
    when 'legal_relationship' then
      perform register.link_relationships(p_job_id);
  end case;
  if v_mode = 'establishment_formal' then
    perform register.choose_primary(p_job_id);
  end if;
  insert into register.import_batch (job_id, batch_seq, first_row_no, last_row_no, rows)
  select p_job_id, l.batch_seq, min(l.row_no), max(l.row_no), count(*)
    from register.import_link as l
   where l.job_id = p_job_id
   group by l.batch_seq;
  get diagnostics v_batches = row_count;
  update register.import_job as j set total_batches = v_batches where j.id = p_job_id;
  if v_rows > 1000 then
    analyze register.import_link (job_id, batch_seq);
  end if;
  return jsonb_build_object('activities', v_activities, 'batches', v_batches);
end;
$$;
