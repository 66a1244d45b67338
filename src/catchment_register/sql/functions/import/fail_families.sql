-- fail_families: a new unit is made by all its rows or by none: rows whose sibling has errors fail with it. Tells how
-- many.
create or replace function register.fail_families(
  p_job_id     integer,
  p_batch_seq  integer
)
  returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  update register.import_data as d
     set has_error = true, operation = 'skip',
         errors = jsonb_build_object('*', format('another row of this new unit has errors (rows %s)', f.rows))
    from (select w.founding_row_no, register.row_list(array_agg(w.row_no)) as rows
            from register.import_data as w
           where w.job_id = p_job_id and w.batch_seq = p_batch_seq
             and w.has_error and w.is_new
           group by w.founding_row_no) as f
   where d.job_id = p_job_id and d.batch_seq = p_batch_seq
     and d.founding_row_no = f.founding_row_no
     and d.is_new
     and not d.has_error;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
