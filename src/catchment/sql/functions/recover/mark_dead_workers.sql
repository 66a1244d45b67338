-- mark_dead_workers: find worker processes that are dead: their lease has ended, or the recorded session has not held
-- their lock for longer than the grace, in which a lost connection can be made again. A lock held by another session
-- does not count.
--
--   locks   worker rows that are free
--   returns the dead, of all or of p_only; their rows stay until interrupt_abandoned has moved their tasks
create or replace function worker.mark_dead_workers(
  p_grace  interval default '500 milliseconds',
  p_only   bigint[] default null
)
  returns bigint[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  with held as (
    select h.key, h.pid
      from worker.lock_holders(array(select w.lock_key
                                       from worker.worker as w
                                      where w.lock_pid is not null
                                        and (p_only is null or w.worker_id = any (p_only)))) as h
  ),
  looked as (
    select w.worker_id,
           w.lock_pid is null or exists (select from held as h where h.key = w.lock_key
                                            and h.pid = w.lock_pid) as is_held
      from worker.worker as w
     where p_only is null or w.worker_id = any (p_only)
       for update of w skip locked
  )
  update worker.worker as w
     set lock_lost_at = case when l.is_held then null else coalesce(w.lock_lost_at, v_now) end
    from looked as l
   where l.worker_id = w.worker_id
     and l.is_held <> (w.lock_lost_at is null);
  return array(
    select w.worker_id
      from worker.worker as w
     where (w.lease_until < v_now or w.lock_lost_at < v_now - p_grace)
       and (p_only is null or w.worker_id = any (p_only)));
end;
$$;
