-- conclude_analysis: end the analysis of a job: it waits for a review, or its rows are imported.
--
--   analysing_data -> waiting_for_review   requested, or errors were found and a review was not ruled out
--   analysing_data -> processing_data      else
create or replace function register.conclude_analysis(p_job_id integer)
  returns void
  language sql set search_path = pg_catalog, pg_temp
as $$
  update register.import_job as j
     set state = case when coalesce(j.review, b.errors > 0) then 'waiting_for_review' else 'processing_data' end,
         processing_start_at = case when not coalesce(j.review, b.errors > 0) then clock_timestamp() end,
         current_step = case when coalesce(j.review, b.errors > 0) then 'waiting for review' else 'processing' end,
         analysis_stop_at = clock_timestamp(), analysed_rows = b.rows, error_count = b.errors,
         warning_count = b.warnings
    from (select coalesce(sum(b.rows), 0) as rows, coalesce(sum(b.error_rows), 0) as errors,
                 coalesce(sum(b.warning_rows), 0) as warnings
            from register.import_batch as b
           where b.job_id = p_job_id) as b
   where j.id = p_job_id;
$$;
