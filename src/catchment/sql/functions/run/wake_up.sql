-- wake_up: mark a worker as awake on a queue.
--
--   session sets synchronous_commit
create or replace function worker.wake_up(
  p_worker_id  bigint,
  p_queue      text,
  p_tiers      integer[],
  p_kind       "char" default 's'
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  delete from worker.sleeper as s
   using worker.queue_registry as q
   where q.queue = p_queue and s.queue_id = q.queue_id and s.tier = any (p_tiers) and s.worker_id = p_worker_id
     and s.kind = p_kind;
end;
$$;
