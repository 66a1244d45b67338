-- fail_families: fail all rows of a unit if one of them has errors, so that they are imported together or not at all.
-- All rows of a unit are in one batch. Returns the number of rows.
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
  -- A legal unit of a job about any kind of unit is named as an owner; relationships are not units.
  update register.import_data as d
     set has_error = true, operation = 'skip',
         errors = jsonb_build_object('*', format('another row of this unit has errors (rows %s)', f.rows))
    from (select coalesce(w.unit_id, -w.owner_id) as unit, register.row_list(array_agg(w.row_no)) as rows
            from register.import_data as w
           where w.job_id = p_job_id and w.batch_seq = p_batch_seq
             and w.has_error
             and w.other_id is null
           group by coalesce(w.unit_id, -w.owner_id)) as f
   where d.job_id = p_job_id and d.batch_seq = p_batch_seq
     and coalesce(d.unit_id, -d.owner_id) = f.unit
     and d.other_id is null
     and not d.has_error;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
