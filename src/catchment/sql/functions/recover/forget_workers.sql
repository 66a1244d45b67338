-- forget_workers: delete the top rows and sleeper marks of dead workers at once, and their own rows when they hold no
-- tasks.
--
--   locks   their top rows by queue, their sleeper rows and their own
create or replace function worker.forget_workers(p_dead bigint[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if p_dead = '{}' then
    return;
  end if;
  perform worker.leave_top(p_dead);
  delete from worker.sleeper as s where s.worker_id = any (p_dead);
  delete from worker.worker as w
   where w.worker_id = any (p_dead)
     and not exists (select from worker.running as r where r.worker_id = w.worker_id);
end;
$$;
