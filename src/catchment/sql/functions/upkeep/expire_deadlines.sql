-- expire_deadlines: running tasks past their timeout. Returns the backends of SQL handlers, for the caller to signal; the
-- attempt then fails as timed out. A Python worker watches its own deadlines.
--
--   locks   running rows that are free
create or replace function worker.expire_deadlines()
  returns integer[]
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  update worker.running as r
     set expired_at = v_now
   where r.ctid = any (array(select x.ctid from worker.running as x where x.deadline_at <= v_now and x.expired_at is null
                                for update skip locked));
  return array(select r.worker_pid from worker.running as r where r.expired_at is not null and r.kind = 's');
end;
$$;
