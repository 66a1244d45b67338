-- begin_session: prepare this backend for running tasks: prove its life by a lock, give back what a broken call of this very
-- session left, count children inserted in this transaction.
--
--   raises  CM003 unknown queue, CM007 inside a handler or with an unknown mode
create or replace function worker.begin_session(
  p_queue  text,
  p_mode   text
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set enable_sort = off
as $$
declare
  v_left bigint[] := string_to_array(nullif(current_setting('worker.busy', true), ''), '/')::bigint[];
begin
  if worker.current_task_id() is not null then
    raise exception using
      errcode = 'CM007',
      message = format('the handler of task %s cannot run other tasks', worker.current_task_id()),
      hint = 'Spawn them: they run when the handler has returned.';
  elsif p_mode not in ('top', 'child') then
    raise exception using errcode = 'CM007', message = format('mode %L is unknown, expected top, child or none', p_mode);
  elsif p_queue is not null and not exists (select from worker.queue_registry as q where q.queue = p_queue) then
    raise exception using
      errcode = 'CM003',
      message = format('unknown queue %L', p_queue),
      hint = 'Register it in worker.queue_registry; "catchment queue list" shows what there is.';
  end if;
  perform worker.hold_backend_lock();
  if v_left is not null then
    perform worker.settle(v_left[1:1], v_left[2:2], array['interrupted'],
                          array[jsonb_build_object('kind', 'interrupted', 'message', 'the call that ran it was broken off')]);
    perform set_config('worker.busy', '', false);
  end if;
  if nullif(current_setting('worker.late', true), '') is not null then
    perform worker.follow_through(null);
  end if;
end;
$$;
