-- go_to_sleep: mark a worker as asleep on a queue, so that enqueues notify it. It must look once more after this commits.
create or replace function worker.go_to_sleep(
  p_worker_id  bigint,
  p_queue      text
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into worker.sleeper (worker_id, queue_id)
  select p_worker_id, q.queue_id from worker.queue_registry as q where q.queue = p_queue
  on conflict do nothing;
end;
$$;
