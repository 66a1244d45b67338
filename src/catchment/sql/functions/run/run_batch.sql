-- run_batch: run claimed tasks in one transaction, each in its own subtransaction, and settle them together. It ends
-- when 20 ms have passed, or before the first task that does not fit; what has not begun then is given back in the same
-- commit. If one of the claims was lost meanwhile, or settling them fails, everything is undone, and as many tasks as
-- were claimed (p_alone) run one by one. Record 0072.
--
-- p_pace, p_done, p_count: as in run_tasks. p_limit: how many tasks were requested, and how many to ask for next.
-- p_opens: end after a task that opens a scope, and whether one did. p_hooks: whether after hooks are due.
--
--   session reads synchronous_commit, worker.late, worker.log_starts, sets synchronous_commit, worker.late
create or replace procedure worker.run_batch(
  p_runs   worker.sql_run[],
  p_hints  text[],
  p_until  timestamptz,
  inout p_pace   jsonb,
  inout p_done   jsonb,
  inout p_count  integer,
  inout p_limit  integer,
  inout p_alone  integer,
  inout p_opens  boolean,
  inout p_hooks  boolean
)
  language plpgsql
as $$
declare
  c_span     constant pg_catalog.interval := '20 milliseconds';
  c_brief    constant pg_catalog.interval := '5 milliseconds';
  c_patience constant pg_catalog.interval := '50 milliseconds';
  v_began   pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_ends_at pg_catalog.timestamptz := least(v_began operator(pg_catalog.+) c_span, p_until);
  v_durable pg_catalog.text := pg_catalog.current_setting('synchronous_commit');
  v_timeout pg_catalog.text := worker.lock_patience(c_patience);
  v_tells   boolean := pg_catalog.current_setting('worker.log_starts', true) operator(pg_catalog.=) 'on';
  v_set     pg_catalog.text;
  v_wanted  pg_catalog.text := v_durable; -- the most durable commit that a handler has asked for
  v_size    integer := pg_catalog.cardinality(p_runs);
  v_begun   integer := 0;
  v_run     worker.sql_run;
  v_clean   boolean := true;
  v_late    boolean := false;
  v_waits   boolean := false;
  v_lost    boolean := false;
  v_state   pg_catalog.text;
  v_error   pg_catalog.jsonb;
  v_info    pg_catalog.jsonb;
  v_took    pg_catalog.interval;
  v_ids     bigint[];
  v_fences  bigint[];
  v_asked   pg_catalog.text[] := pg_catalog.array_fill('released'::pg_catalog.text, array[v_size]);
  v_errors  pg_catalog.jsonb[] := pg_catalog.array_fill(null::pg_catalog.jsonb, array[v_size]);
  v_infos   pg_catalog.jsonb[] := v_errors;
  v_times   pg_catalog.interval[];
  v_log     pg_catalog.jsonb := '[]';
  v_states  pg_catalog.text[];
  v_again   pg_catalog.interval[];
begin
  for i in 1 .. v_size loop
    v_run := p_runs[i];
    v_ids[i] := v_run.id;
    v_fences[i] := v_run.fence;
  end loop;
  p_alone := 0;
  for i in 1 .. v_size loop
    v_run := p_runs[i];
    if not worker.enter_batched(v_run.id, v_run.is_batched, v_run.command, p_pace,
                                case when i operator(pg_catalog.>) 1 then v_ends_at else 'infinity' end,
                                i operator(pg_catalog.=) 1) then
      if pg_catalog.clock_timestamp() operator(pg_catalog.<) v_ends_at then
        p_alone := 1;
      end if;
      exit;
    end if;
    if v_tells then
      perform worker.announce_start(v_run);
    end if;
    call worker.run_batched(v_run, v_clean, c_patience, v_timeout, v_state, v_error, v_info, v_took);
    if v_state operator(pg_catalog.<>) 'completed' or v_took operator(pg_catalog.>=) c_brief then
      p_pace := worker.note_pace(p_pace, v_run.command, false, v_state operator(pg_catalog.=) 'alone'
                                                              and v_took operator(pg_catalog.>=) c_patience);
    end if;
    if v_state operator(pg_catalog.=) 'alone' then
      p_alone := 1;
      exit;
    end if;
    v_begun := i;
    v_asked[i] := v_state;
    v_errors[i] := v_error;
    v_infos[i] := v_info;
    v_times[i] := v_took;
    if v_state operator(pg_catalog.=) 'completed' then
      v_clean := false;
      v_late := v_late or coalesce(pg_catalog.current_setting('worker.late', true), '') operator(pg_catalog.<>) '';
      v_set := pg_catalog.current_setting('synchronous_commit');
      call worker.forget_settings(p_hints);
      if v_set operator(pg_catalog.<>) v_durable then
        v_wanted := worker.more_durable(v_wanted, v_set);
        v_set := pg_catalog.set_config('synchronous_commit', v_durable, true);
      end if;
      if p_opens then
        v_waits := worker.opens_scope(v_run.fence);
        exit when v_waits;
      end if;
    end if;
  end loop;
  v_took := pg_catalog.clock_timestamp() operator(pg_catalog.-) v_began;

  begin
    if v_late then
      perform pg_catalog.set_config('worker.late', 'yes', true);
    end if;
    select e.p_states, e.p_again into v_states, v_again
      from worker.end_batch(v_ids, v_fences, v_asked, v_errors, v_infos) as e;
  exception
    when query_canceled or assert_failure or others then
      v_lost := true;
  end;
  if v_lost then
    rollback;
    perform worker.settle(v_ids, v_fences, pg_catalog.array_fill('released'::pg_catalog.text, array[v_size]));
    v_begun := 0;
    v_waits := false;
    p_alone := v_size;
  end if;
  p_hooks := worker.leave_task();
  perform pg_catalog.set_config('synchronous_commit', v_wanted, true);
  commit;

  for i in 1 .. least(v_begun, 100 operator(pg_catalog.-) p_count) loop
    v_log := v_log operator(pg_catalog.||) worker.processed_task(
      p_runs[i], v_asked[i], v_states[i], v_errors[i], v_again[i], v_times[i]);
  end loop;
  p_done := p_done operator(pg_catalog.||) v_log;
  p_count := p_count operator(pg_catalog.+) v_begun;
  p_opens := v_waits;
  p_limit := case when p_alone operator(pg_catalog.>) 0 then 1
                  else worker.batch_limit(p_limit, v_size, v_begun, v_took, c_span) end;
end;
$$;
