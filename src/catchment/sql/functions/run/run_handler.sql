-- run_handler: call the handler and settle its task, in one subtransaction: they take effect together or not at all.
-- Deadlocks and serialization failures are retried; any other error is returned, with the outcome of the attempt in
-- p_state. p_took is how long the handler ran, the last time.
create or replace procedure worker.run_handler(
  p_run      worker.sql_run,
  p_commits  boolean,
  inout p_state text,
  inout p_error jsonb,
  inout p_took  interval
)
  language plpgsql
as $$
declare
  c_tries  constant integer := 3;
  v_start    pg_catalog.timestamptz;
  v_info     pg_catalog.jsonb;
  v_sqlstate pg_catalog.text;
  v_message  pg_catalog.text;
  v_detail   pg_catalog.text;
  v_hint     pg_catalog.text;
  v_context  pg_catalog.text;
begin
  for v_try in 0 .. c_tries loop
    begin
      v_start := pg_catalog.clock_timestamp();
      call worker.call_handler(p_run, v_info);
      p_took := pg_catalog.clock_timestamp() operator(pg_catalog.-) v_start;
      p_state := worker.complete_task(p_run.id, p_run.fence, v_info);
      if p_commits then
        -- A deferred constraint that fails is the handler's failure, not the loop's.
        set constraints all immediate;
      end if;
      p_error := null;
      return;
    exception
      when query_canceled or assert_failure or others then
        get stacked diagnostics v_sqlstate = returned_sqlstate, v_message = message_text,
                                v_detail = pg_exception_detail, v_hint = pg_exception_hint,
                                v_context = pg_exception_context;
        p_error := worker.sql_error(v_sqlstate, v_message, v_detail, v_hint, v_context);
        p_state := case when v_sqlstate operator(pg_catalog.=) 'CM041' then 'snoozed' else 'failed' end;
    end;
    exit when v_sqlstate operator(pg_catalog.<>) all (array['40001', '40P01']) or v_try operator(pg_catalog.=) c_tries;
    perform worker.pause_before_try(v_try);
  end loop;
  if p_state operator(pg_catalog.=) 'snoozed' then
    p_error := worker.snooze_request(p_error);
  end if;
end;
$$;
