-- try_worker_lock: take the lock of a worker for this session, and record this session as its holder.
--
--   locks   the worker row
--   returns whether it is held; false when another session has it
create or replace function worker.try_worker_lock(p_worker_id bigint)
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_worker worker.worker;
  v_held   boolean;
begin
  select w.* into v_worker from worker.worker as w where w.worker_id = p_worker_id for update;
  if v_worker.lock_key is null then
    return false;
  end if;
  v_held := exists (select from worker.lock_holders(array[v_worker.lock_key]) as h where h.pid = pg_backend_pid())
            or pg_try_advisory_lock(v_worker.lock_key);
  update worker.worker as w
     set lock_pid     = case when v_held then pg_backend_pid() end,
         lock_lost_at = null
   where w.worker_id = p_worker_id;
  return v_held;
end;
$$;
