-- lock_signalled: backends whose SQL task is cancelled or past its deadline. Their running rows stay locked until this
-- transaction ends, so a signal sent meanwhile cannot hit the next task of that backend.
--
--   locks   running rows that are free
--   plan    indexed
create or replace function worker.lock_signalled()
  returns integer[]
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select array(
    select r.worker_pid
      from worker.running as r
     where r.backend_key is not null
       and (r.cancel_reason is not null or r.expired_at is not null)
       and r.worker_pid <> pg_backend_pid()
     order by r.id
       for update skip locked);
$$;
