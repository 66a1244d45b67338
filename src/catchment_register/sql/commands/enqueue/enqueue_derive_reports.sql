-- enqueue_derive_reports: ask for all reports.
-- Always for all time: the period is kept with the task, of two that are pending the wider one, and limits nothing.
create or replace function worker.enqueue_derive_reports(
  p_valid_from   date default null,
  p_valid_until  date default null
)
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('derive_reports', jsonb_build_object('valid_from', p_valid_from, 'valid_until', p_valid_until));
$$;
