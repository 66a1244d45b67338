-- add_audit: store the result of a comparison of a table with its query.
create or replace function lake.add_audit(
  p_dt_id     bigint,
  p_snapshot  bigint,
  p_missing   bigint,
  p_extra     bigint,
  p_ms        double precision
)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into lake.audit_run (dt_id, snapshot, missing, extra, ms, at)
  values (p_dt_id, p_snapshot, p_missing, p_extra, p_ms, worker.now())
$$;
