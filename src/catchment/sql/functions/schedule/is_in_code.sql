-- is_in_code: whether a live worker has a schedule in its code.
create or replace function worker.is_in_code(p_name text)
  returns boolean
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select
                   from worker.schedule_source as s
                   join worker.worker as w on w.worker_id = any (s.worker_ids)
                  where s.name = p_name
                    and w.lease_until > worker.now());
$$;
