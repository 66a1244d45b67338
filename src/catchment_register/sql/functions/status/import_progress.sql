-- import_progress: progress of each unfinished job, oldest first.
create or replace function register.import_progress()
  returns table (
    job_id            integer,
    slug              text,
    state             text,
    current_step      text,
    needs_review      boolean,
    total_rows        integer,
    analysed_rows     integer,
    imported_rows     integer,
    error_rows        integer,
    warning_rows      integer,
    analysis_percent  numeric,
    import_percent    numeric,
    held_by           integer
  )
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select p.id, p.slug, p.state, p.current_step, p.needs_review, p.total_rows, p.analysed_rows, p.imported_rows,
         p.error_rows, p.warning_rows, p.analysis_percent, p.import_percent, p.held_by
    from register.import_job_progress as p
   where p.state not in ('finished', 'rejected', 'failed')
   order by p.id;
$$;
