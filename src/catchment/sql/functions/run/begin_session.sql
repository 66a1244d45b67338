-- begin_session: prepare this backend for running tasks: prove its life by a lock, release what a broken call of this
-- very session left, count children inserted in this transaction. The tasks it left are those of its last claim that
-- still run: worker.batch has the first of them. Inside a transaction of the caller (p_commits is false), locks stay
-- from task to task, so the meters that its claims can need come before everything else.
--
--   locks   meter rows by name of the queue, unless it commits; then see settle
--   raises  CM003 no such queue is registered; CM018 an option has an invalid value; CM025 a handler cannot run other
--           tasks
--   session reads worker.batch, worker.late
--   plan    walk
create or replace function worker.begin_session(
  p_queue    text,
  p_mode     text,
  p_commits  boolean default true
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_caller constant text := '\y(call_handler|run_hook)\((worker\.sql_run|sql_run|bigint),';
  v_key     bigint;
  v_first   bigint;
  v_left    bigint[];
  v_fences  bigint[];
  v_context text;
begin
  if p_mode not in ('top', 'child') then
    raise exception using
      errcode = 'CM018', message = format('mode %L is unknown, expected top, child or none', p_mode);
  elsif p_queue is not null and not exists (select from worker.queue_registry as q where q.queue = p_queue) then
    raise exception using
      errcode = 'CM003',
      message = format('unknown queue %L', p_queue),
      hint = 'Register it in worker.queue_registry; "catchment queue list" shows all queues.';
  end if;
  if not p_commits then
    perform worker.hold_meters(case when p_queue is not null then array[p_queue] end);
  end if;
  v_key := worker.hold_backend_lock();
  begin
    v_first := currval('worker.batch');
  exception
    when object_not_in_prerequisite_state then
      null; -- nothing was ever claimed here
  end;
  select array_agg(r.id order by r.fence), array_agg(r.fence order by r.fence) into v_left, v_fences
    from worker.running as r
   where r.backend_key = v_key and r.fence >= v_first;
  if v_left is not null then
    get diagnostics v_context = pg_context;
    if v_context ~ c_caller then
      raise exception using
        errcode = 'CM025',
        message = format('the handler of task %s cannot run other tasks',
                         coalesce(worker.current_task_id(), v_left[1])),
        hint = 'Spawn them: they run when the handler has returned.';
    end if;
    perform worker.settle(v_left, v_fences, array_fill('interrupted'::text, array[cardinality(v_left)]),
                          array_fill(jsonb_build_object('kind', 'interrupted',
                                                        'message', 'the call that ran it was broken off'),
                                     array[cardinality(v_left)]));
  end if;
  if nullif(current_setting('worker.late', true), '') is not null then
    perform worker.follow_through(null);
  end if;
end;
$$;
