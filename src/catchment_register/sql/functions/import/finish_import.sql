-- finish_import: finish a job after its last batch. Now it is known which rows were imported, so primary units are
-- chosen in place of those that failed or have moved.
--
--   processing_data -> finished
create or replace function register.finish_import(p_job_id integer)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if (select j.snapshot ->> 'mode' from register.import_job as j where j.id = p_job_id) = 'establishment_formal' then
    if exists (select from register.import_batch as b where b.job_id = p_job_id and b.error_rows > 0) then
      perform register.promote_establishments(p_job_id);
    end if;
    perform register.follow_primaries(p_job_id);
  end if;
  update register.import_job as j
     set state = 'finished', imported_rows = b.imported, error_count = b.errors, current_step = null,
         processing_stop_at = clock_timestamp(), finished_at = clock_timestamp()
    from (select coalesce(sum(b.rows - b.error_rows), 0) as imported, coalesce(sum(b.error_rows), 0) as errors
            from register.import_batch as b
           where b.job_id = p_job_id) as b
   where j.id = p_job_id;
  perform worker.notify('import_job', jsonb_build_object('verb', 'UPDATE', 'id', p_job_id)::text);
end;
$$;
