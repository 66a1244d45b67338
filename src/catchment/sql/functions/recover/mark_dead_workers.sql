-- mark_dead_workers: find worker processes that are gone. A worker is dead when its lease has ended, or when its lock has been
-- free for longer than a grace, so that a cut connection can be made again.
--
--   returns the dead; their rows stay until interrupt_abandoned has moved their tasks
create or replace function worker.mark_dead_workers(p_grace interval default '500 milliseconds')
  returns bigint[]
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  with held as (
    select h.key from worker.lock_holders(array(select w.lock_key from worker.worker as w where w.lock_key is not null)) as h
  ),
  looked as (
    select w.worker_id, w.lock_key is null or exists (select from held as h where h.key = w.lock_key) as is_held
      from worker.worker as w
       for update of w skip locked
  )
  update worker.worker as w
     set lock_lost_at = case when l.is_held then null else coalesce(w.lock_lost_at, v_now) end
    from looked as l
   where l.worker_id = w.worker_id
     and l.is_held <> (w.lock_lost_at is null);
  return array(
    select w.worker_id from worker.worker as w where w.lease_until < v_now or w.lock_lost_at < v_now - p_grace);
end;
$$;
