-- notify_status: notify listeners of worker_status whether imports and derivations are active, as three booleans.
create or replace function register.notify_status()
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.notify('worker_status', jsonb_build_object('type', s.type, 'status', s.status)::text)
    from (values ('is_importing', register.is_importing()),
                 ('is_deriving_statistical_units', register.is_deriving_statistical_units()),
                 ('is_deriving_reports', register.is_deriving_reports())) as s (type, status);
$$;
