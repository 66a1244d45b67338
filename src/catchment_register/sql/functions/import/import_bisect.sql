-- import_bisect: process the units from p_first to p_last, in a savepoint. If a rule refuses them, each half is tried
-- by itself, down to the unit that is refused: its rows get the reason and are not imported. Returns the number of
-- failed rows.
create or replace function register.import_bisect(
  p_job_id     integer,
  p_batch_seq  integer,
  p_first      integer,
  p_last       integer
)
  returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text;
  v_column text;
  v_first  integer;
  v_middle integer;
  v_last   integer;
  v_failed integer;
begin
  begin
    perform register.import_process_rows(p_job_id, p_batch_seq, p_first, p_last);
    return 0;
  exception
    when integrity_constraint_violation or data_exception or sqlstate 'RG001' or sqlstate 'RG002' or sqlstate 'RG003'
      or sqlstate 'RG004' or sqlstate 'RG005' or sqlstate 'RG017' or sqlstate 'RG018' or sqlstate 'RG023' then
      get stacked diagnostics v_reason = constraint_name, v_column = column_name;
      v_reason := coalesce(register.refusal_text(v_reason, v_column), sqlerrm);
  end;
  select min(k.unit), max(k.unit), percentile_disc(0.5) within group (order by k.unit) into v_first, v_last, v_middle
    from (select distinct coalesce(d.other_id, d.unit_id, d.owner_id) as unit
            from register.import_data as d
           where d.job_id = p_job_id and d.batch_seq = p_batch_seq
             and not d.has_error
             and coalesce(d.other_id, d.unit_id, d.owner_id) between p_first and p_last) as k;
  if v_first < v_last then
    return register.import_bisect(p_job_id, p_batch_seq, v_first, v_middle)
           + register.import_bisect(p_job_id, p_batch_seq, v_middle + 1, v_last);
  end if;
  update register.import_data as d
     set has_error = true, operation = 'skip', errors = jsonb_build_object('*', v_reason)
   where d.job_id = p_job_id and d.batch_seq = p_batch_seq
     and not d.has_error
     and coalesce(d.other_id, d.unit_id, d.owner_id) = v_first;
  get diagnostics v_failed = row_count;
  return v_failed;
end;
$$;
