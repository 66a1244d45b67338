-- heartbeat: renew the lease of a worker process and record its free capacity, memory usage and loop lag.
--
--   returns the requested state: pause, drain, or null; see ask_worker
--   raises  CM017 the worker is not registered
create or replace function worker.heartbeat(
  p_worker_id           bigint,
  p_lease               interval default '15 seconds',
  p_available_capacity  integer default null,
  p_memory_usage        real default null,
  p_loop_lag            real default null
)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_asked text;
begin
  update worker.worker as w
     set seen_at            = worker.now(),
         lease_until        = worker.now() + p_lease,
         lock_lost_at       = case when exists (select from worker.lock_holders(array[w.lock_key]) as h
                                                 where h.pid = w.lock_pid) then null
                                   else w.lock_lost_at
                              end,
         available_capacity = coalesce(p_available_capacity, w.available_capacity),
         memory_usage       = coalesce(p_memory_usage, w.memory_usage),
         loop_lag           = coalesce(p_loop_lag, w.loop_lag)
   where w.worker_id = p_worker_id
  returning w.asked into v_asked;
  if not found then
    raise exception using
      errcode = 'CM017',
      message = format('worker %s was declared dead', p_worker_id),
      hint = 'Its lease ended or its lock was gone too long. Register again.';
  end if;
  return v_asked;
end;
$$;
