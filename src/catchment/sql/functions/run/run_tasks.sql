-- run_tasks: the loop behind process_tasks and drain. It runs with the search path of its caller, so it says of every
-- operator which one it means; so do the other procedures that cannot fix their path because they commit.
--
--   session reads worker.log_starts, sets synchronous_commit, worker.processed
create or replace procedure worker.run_tasks(
  p_commits         boolean,
  p_batch_size      integer,
  p_max_runtime_ms  integer,
  p_queue           text,
  p_max_priority    integer,
  p_mode            text
)
  language plpgsql
as $$
declare
  v_until  pg_catalog.timestamptz := pg_catalog.clock_timestamp()
           operator(pg_catalog.+) (p_max_runtime_ms::double precision operator(pg_catalog.*) interval '1 millisecond');
  v_tier   integer := case when p_mode operator(pg_catalog.=) 'top' then 1 else 0 end;
  v_done   pg_catalog.jsonb := '[]';
  v_count  integer := 0;
  v_run    worker.sql_run;
  v_state  pg_catalog.text;
  v_asked  pg_catalog.text;
  v_error  pg_catalog.jsonb;
  v_again  pg_catalog.interval;
  v_start  pg_catalog.timestamptz;
  v_hooks  boolean;
  v_hints  pg_catalog.text[];
  v_sweeps boolean := true; -- cancel requests are still to be carried out before the next task
begin
  perform worker.begin_session(p_queue, p_mode, p_commits);
  if p_commits then
    v_hints := worker.session_hints(p_queue);
  end if;
  loop
    exit when v_count operator(pg_catalog.>=) p_batch_size
      or pg_catalog.clock_timestamp() operator(pg_catalog.>=) v_until;
    v_run := worker.begin_task(p_queue, v_tier, p_max_priority, v_sweeps);
    if v_run.id operator(pg_catalog.=) 0 then
      v_sweeps := false;
      if p_commits then
        perform pg_catalog.set_config('synchronous_commit', 'off', true);
        commit;
      end if;
      continue;
    end if;
    v_sweeps := true;
    if v_run.id is null then
      exit when v_tier operator(pg_catalog.=) 1 or p_mode operator(pg_catalog.=) 'child';
      v_tier := 1;
      if p_commits then
        -- The look for children may hold lanes and gates, and the next one begins with meters and lanes: see let_in.
        perform pg_catalog.set_config('synchronous_commit', 'off', true);
        commit;
      end if;
      continue;
    end if;
    v_start := pg_catalog.clock_timestamp();
    if v_run.before_call is not null then
      call worker.run_hook(v_run.id, 'before', v_run.before_call, v_run.payload, p_commits);
      if v_hints is not null then
        call worker.forget_settings(v_hints);
      end if;
    end if;
    if p_commits then
      -- A claim that a crash forgets is simply claimed again, so its commit need not wait for the disk.
      perform pg_catalog.set_config('synchronous_commit', 'off', true);
      commit;
    end if;

    if pg_catalog.current_setting('worker.log_starts', true) operator(pg_catalog.=) 'on' then
      -- The client gets it at once, not at the end of this call.
      raise notice using message := 'task.started', detail := pg_catalog.jsonb_build_object(
        'task_id', v_run.id, 'command', v_run.command, 'attempt', v_run.attempt, 'is_join', v_run.is_join);
    end if;
    perform worker.enter_task(v_run.id);
    v_error := null;
    v_again := null;
    call worker.run_handler(v_run, p_commits, v_state, v_error);
    if v_error is not null then
      v_asked := v_state;
      if v_asked operator(pg_catalog.=) 'snoozed' then
        v_error := pg_catalog.jsonb_build_object('until', v_error operator(pg_catalog.->) 'detail'::pg_catalog.text,
                                                 'message', v_error operator(pg_catalog.->) 'message'::pg_catalog.text);
      end if;
      select s.state, s.again_in into v_state, v_again
        from worker.settle(array[v_run.id], array[v_run.fence], array[v_asked], array[v_error]) as s;
      if not found then
        v_state := 'lost';
      elsif v_state operator(pg_catalog.=) 'pending' and v_asked operator(pg_catalog.=) 'snoozed' then
        v_state := v_asked; -- for the log
      end if;
    end if;
    v_hooks := worker.leave_task();
    if v_hints is not null then
      call worker.forget_settings(v_hints);
    end if;
    if p_commits then
      commit;
    end if;

    v_count := v_count operator(pg_catalog.+) 1;
    if v_count operator(pg_catalog.<=) 100 then
      v_done := v_done operator(pg_catalog.||) pg_catalog.jsonb_build_object(
        'id', v_run.id, 'command', v_run.command, 'state', v_state, 'is_join', v_run.is_join, 'attempt', v_run.attempt,
        'error', v_error operator(pg_catalog.->>) 'message'::pg_catalog.text,
        'failures', case when v_error is not null and v_asked operator(pg_catalog.=) 'failed'
                      then v_run.failures operator(pg_catalog.+) 1 end,
        'max_attempts', v_run.max_attempts, 'again_in', extract(epoch from v_again),
        'duration_ms', pg_catalog.round(extract(epoch from pg_catalog.clock_timestamp() operator(pg_catalog.-) v_start)
                                        operator(pg_catalog.*) 1000::numeric, 3));
    end if;
    if v_hooks then
      call worker.run_after_calls(p_commits, null, v_hints);
    end if;
    exit when p_mode is null and v_tier operator(pg_catalog.=) 1 and v_state operator(pg_catalog.=) 'waiting';
  end loop;
  call worker.run_after_calls(p_commits, null, v_hints);
  perform pg_catalog.set_config('worker.processed', v_done::pg_catalog.text, false);
end;
$$;
