-- run_tasks: the loop behind process_tasks and drain. It runs with the search path of its caller, so it says of every
-- operator which one it means; so do the other procedures that cannot fix their path because they commit. In a session
-- of a worker, whose settings are reset after each handler, tasks of brief commands are claimed and run several at a
-- time: see run_batch.
--
--   session reads worker.log_starts, sets synchronous_commit, worker.pace, worker.processed
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
  c_brief  constant pg_catalog.interval := '5 milliseconds';
  v_until  pg_catalog.timestamptz := pg_catalog.clock_timestamp()
           operator(pg_catalog.+) (p_max_runtime_ms::double precision operator(pg_catalog.*) interval '1 millisecond');
  v_tier   integer := case when p_mode operator(pg_catalog.=) 'top' then 1 else 0 end;
  v_done   pg_catalog.jsonb := '[]';
  v_count  integer := 0;
  v_limit  integer := 1; -- how many tasks to claim
  v_alone  integer := 0; -- how many tasks have to run by themselves before several may be claimed
  v_may    boolean;
  v_brief  boolean;
  v_pace   pg_catalog.jsonb;
  v_runs   worker.sql_run[];
  v_run    worker.sql_run;
  v_state  pg_catalog.text;
  v_asked  pg_catalog.text;
  v_error  pg_catalog.jsonb;
  v_again  pg_catalog.interval;
  v_start  pg_catalog.timestamptz;
  v_took   pg_catalog.interval;
  v_opens  boolean;
  v_hooks  boolean;
  v_hints  pg_catalog.text[];
  v_sweeps boolean := true; -- cancel requests are still to be carried out before the next task
begin
  perform worker.begin_session(p_queue, p_mode, p_commits);
  if p_commits then
    v_hints := worker.session_hints(p_queue);
  end if;
  if v_hints is not null then
    v_pace := worker.known_pace();
    v_limit := worker.known_limit(v_pace);
    if v_limit operator(pg_catalog.>) 1 then
      v_may := worker.may_batch();
      v_limit := case when v_may then v_limit else 1 end;
    end if;
  end if;
  loop
    exit when v_count operator(pg_catalog.>=) p_batch_size
      or pg_catalog.clock_timestamp() operator(pg_catalog.>=) v_until;
    v_limit := least(v_limit, p_batch_size operator(pg_catalog.-) v_count);
    v_runs := array(select b from worker.begin_tasks(p_queue, v_tier, p_max_priority, v_sweeps, v_limit) as b);
    v_run := v_runs[1];
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
      v_limit := 1;
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

    if pg_catalog.cardinality(v_runs) operator(pg_catalog.>) 1 then
      v_opens := p_mode is null and v_tier operator(pg_catalog.=) 1;
      call worker.run_batch(v_runs, v_hints, v_until, v_pace, v_done, v_count, v_limit, v_alone, v_opens, v_hooks);
      if v_hooks then
        call worker.run_after_calls(p_commits, null, v_hints);
      end if;
      exit when v_opens;
      continue;
    end if;

    if pg_catalog.current_setting('worker.log_starts', true) operator(pg_catalog.=) 'on' then
      perform worker.announce_start(v_run);
    end if;
    perform worker.enter_task(v_run.id);
    v_error := null;
    v_again := null;
    call worker.run_handler(v_run, p_commits, v_state, v_error, v_took);
    v_asked := v_state;
    if v_error is not null then
      select s.state, s.again_in into v_state, v_again
        from worker.settle(array[v_run.id], array[v_run.fence], array[v_asked], array[v_error]) as s;
      if not found then
        v_state := 'lost';
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
      v_done := v_done operator(pg_catalog.||) worker.processed_task(
        v_run, v_asked, v_state, v_error, v_again, pg_catalog.clock_timestamp() operator(pg_catalog.-) v_start);
    end if;
    if v_hooks then
      call worker.run_after_calls(p_commits, null, v_hints);
    end if;
    exit when p_mode is null and v_tier operator(pg_catalog.=) 1 and v_state operator(pg_catalog.=) 'waiting';
    if v_hints is not null then
      v_alone := greatest(v_alone operator(pg_catalog.-) 1, 0);
      v_limit := 1;
      if v_run.is_batched then
        v_brief := worker.is_brief(v_pace, v_run.command);
        if not v_brief or v_error is not null or v_took operator(pg_catalog.>=) c_brief then
          v_pace := worker.note_pace(v_pace, v_run.command,
                                     v_error is null and v_took operator(pg_catalog.<) c_brief);
          v_brief := worker.is_brief(v_pace, v_run.command);
        end if;
        if v_brief and v_alone operator(pg_catalog.=) 0 then
          v_may := coalesce(v_may, worker.may_batch());
          v_limit := case when v_may and pg_catalog.pg_my_temp_schema() operator(pg_catalog.=) 0::pg_catalog.oid then 2
                          else 1 end;
        end if;
      end if;
    end if;
  end loop;
  call worker.run_after_calls(p_commits, null, v_hints);
  if v_hints is not null then
    perform pg_catalog.set_config('worker.pace', worker.noted_pace(v_pace, v_limit), false);
  end if;
  perform pg_catalog.set_config('worker.processed', v_done::pg_catalog.text, false);
end;
$$;
