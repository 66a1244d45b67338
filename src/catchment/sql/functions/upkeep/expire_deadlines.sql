-- expire_deadlines: mark running tasks past their timeout. The backend of a SQL handler is then signalled
-- (lock_signalled) and its attempt fails as timed out; a Python worker watches its own deadlines.
--
--   locks   running rows that are free
--   plan    indexed
create or replace function worker.expire_deadlines(p_only bigint default null)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now   timestamptz := worker.now();
  v_count integer;
  v_aside bigint[] := case when p_only is null then worker.set_aside('deadline') else '{}' end;
begin
  update worker.running as r
     set expired_at = v_now
   where r.ctid = any (array(select x.ctid
                                from worker.running as x
                               where x.deadline_at <= v_now and x.expired_at is null
                                 and (p_only is null or x.id = p_only) and x.id <> all (v_aside)
                                 for update skip locked));
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
