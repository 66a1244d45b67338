-- hold_worker_lock: take a worker's lock for this session, as proof that the worker lives. An older session of the same
-- worker that still has it (a lost connection that the server has not noticed) is ended first. Runs with the caller's
-- rights, which must allow that. A foreign session that holds the lock is left alone: then the worker lives by its
-- lease.
--
--   returns whether the lock is held
create or replace function worker.hold_worker_lock(p_worker_id bigint)
  returns boolean
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_ghost integer := worker.former_session(p_worker_id);
begin
  if v_ghost is not null then
    begin
      perform pg_terminate_backend(v_ghost, 2000);
    exception
      when insufficient_privilege then
        null;
    end;
  end if;
  return worker.try_worker_lock(p_worker_id);
end;
$$;
