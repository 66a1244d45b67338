-- holds_task: whether this session runs that attempt, or this transaction ends it. Proven by the key of the session,
-- which no session can choose, or by a row that only this transaction sees. Settings prove nothing.
--
--   reads   worker.offspring
create or replace function worker.holds_task(p_run worker.running)
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if p_run.worker_pid = pg_backend_pid() and p_run.backend_key = worker.own_backend_key() then
    return true;
  end if;
  return exists (select from worker.offspring as o where o.fence = p_run.fence
                    and o.xact = pg_current_xact_id_if_assigned());
end;
$$;
