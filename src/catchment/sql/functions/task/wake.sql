-- wake: hint to the workers asleep on these queues for this tier. A busy system has no sleepers, so it sends nothing.
create or replace function worker.wake(
  p_queue_ids  integer[],
  p_tier       integer
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from worker.sleeper as s where s.queue_id = any (p_queue_ids) and s.tier = p_tier) then
    perform worker.notify('worker_tasks', q.queue)
       from worker.queue_registry as q
      where q.queue_id = any (p_queue_ids)
        and exists (select from worker.sleeper as s where s.queue_id = q.queue_id and s.tier = p_tier);
  end if;
end;
$$;
