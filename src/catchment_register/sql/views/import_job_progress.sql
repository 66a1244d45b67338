-- import_job_progress: each job with what is done of it. Batches tell what is analysed and processed while a job runs.
-- held_by: the job that waits for a review, and this one for it.
create or replace view register.import_job_progress as
select j.id, j.slug, j.snapshot ->> 'definition' as definition, j.snapshot ->> 'strategy' as strategy, j.state,
       j.current_step, j.state = 'waiting_for_review' as needs_review, j.total_rows, b.analysed_rows, b.error_rows,
       b.warning_rows, b.imported_rows,
       round(case when j.total_rows > 0 then 100.0 * b.analysed_rows / j.total_rows
                  when j.state in ('finished', 'rejected') then 100 else 0 end, 1) as analysis_percent,
       round(case when j.state = 'finished' then 100
                  when j.total_rows > b.error_rows then 100.0 * b.imported_rows / (j.total_rows - b.error_rows)
                  else 0 end, 1) as import_percent,
       round(b.analysed_rows / nullif(extract(epoch from coalesce(j.analysis_stop_at, clock_timestamp())
                                              - j.analysis_start_at),
                                      0))::integer as analysis_rows_per_second,
       round(b.imported_rows / nullif(extract(epoch from coalesce(j.processing_stop_at, clock_timestamp())
                                                          - j.processing_start_at),
                                                          0))::integer as import_rows_per_second,
       j.error, j.valid_from, j.valid_until, j.review, j.note, j.created_at, j.created_by, j.uploaded_at, j.finished_at,
       j.expires_at,
       case when j.state in ('upload_completed', 'preparing_data', 'analysing_data', 'processing_data')
            then (select min(w.id) from register.import_job as w where w.state = 'waiting_for_review'
                     and w.id <> j.id) end as held_by
  from register.import_job as j
 cross join lateral (
   select coalesce(sum(b.rows) filter (where b.analysed_at is not null), 0)::integer as analysed_rows,
          coalesce(sum(b.error_rows), 0)::integer as error_rows,
          coalesce(sum(b.warning_rows), 0)::integer as warning_rows,
          coalesce(sum(b.rows - b.error_rows) filter (where b.processed_at is not null), 0)::integer as imported_rows
     from register.import_batch as b
    where b.job_id = j.id) as b;
comment on view register.import_job_progress is 'Import jobs and their progress.';
