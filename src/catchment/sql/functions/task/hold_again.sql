-- hold_again: a retried task that could not have started yet waits for its root to complete (follow_up), or for its
-- time (scheduled).
--
--   cancelled -> pending
--   locks   nothing: its blocked row is new; the caller holds the scope row of the root
create or replace function worker.hold_again(
  p_task     worker.task,
  p_reason   text,
  p_attempt  integer
)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into worker.blocked (id, reason, wait_id, due_at, queue_id, kind, tier, band, rank, place, lane, attempt)
  values (p_task.id, p_reason, case p_reason when 'follow_up' then p_task.follows_id end,
          case p_reason when 'scheduled' then p_task.scheduled_at end, p_task.queue_id, p_task.kind,
          case when p_task.parent_id is null then 1 else 0 end, p_task.priority, 1, p_task.place, p_task.lane,
          p_attempt);
$$;
