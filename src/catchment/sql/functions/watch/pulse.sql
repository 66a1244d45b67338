-- pulse: has anything happened? made and started count all tasks and attempts there ever were, trouble_at is when the
-- last task failed or was cancelled, joined counts the workers that ever started. Watchers ask for it every second: it
-- reads three sequences, the end of an index and whether a small table is empty, however many tasks there are.
--
--   plan    probe
create or replace function worker.pulse()
  returns table (made bigint, started bigint, is_running boolean, trouble_at timestamptz, joined bigint)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select (select case when s.is_called then s.last_value else 0 end from worker.task_id_seq as s),
         (select case when s.is_called then s.last_value else 0 end from worker.fence as s),
         exists (select from worker.running),
         (select max(o.completed_at) from worker.outcome as o where o.state <> 'completed'),
         (select case when s.is_called then s.last_value else 0 end from worker.worker_worker_id_seq as s);
$$;
