-- refreshes_since_audit: how many refreshes have written to a table, or may have, since it was last compared with its
-- query.
create or replace function lake.refreshes_since_audit(p_dt_id bigint)
  returns bigint
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select count(*)
    from lake.refresh as r
   where r.dt_id = p_dt_id
     and r.state = 'SUCCEEDED'
     and r.action <> 'no_data'
     and r.finished_at > coalesce((select max(a.at) from lake.audit_run as a where a.dt_id = p_dt_id), '-infinity')
$$;
