-- run_handler: call the handler and settle its task, in one subtransaction: they take effect together or not at all.
-- Deadlocks and serialization failures are tried again; any other error is handed back, with what the attempt is to be
-- settled as in p_state.
--
--   session reads role, sets role, session_authorization
create or replace procedure worker.run_handler(
  p_run      worker.sql_run,
  p_commits  boolean,
  inout p_state text,
  inout p_error jsonb
)
  language plpgsql
as $$
declare
  c_tries  constant integer := 3;
  v_call   pg_catalog.text;
  v_user   pg_catalog.name := current_user;
  v_login  pg_catalog.name := session_user;
  v_role   pg_catalog.text := pg_catalog.current_setting('role');
  v_info   pg_catalog.jsonb;
  v_sqlstate pg_catalog.text;
  v_message  pg_catalog.text;
  v_detail   pg_catalog.text;
  v_hint     pg_catalog.text;
  v_context  pg_catalog.text;
begin
  for v_try in 0 .. c_tries loop
    begin
      v_info := null;
      -- Looked up with the rights of the caller: without usage of its schema it may not be run.
      if pg_catalog.to_regprocedure(p_run.signature) is null then
        p_run.signature := worker.find_handler(p_run.command, p_run.is_join);
        if p_run.signature is null then
          perform worker.raise_no_handler(p_run.command, p_run.name);
        end if;
      end if;
      v_call := worker.call_of(p_run.signature);
      if pg_catalog.right(v_call, 5) operator(pg_catalog.=) ', $2)' then
        execute v_call into v_info using p_run.payload, null::pg_catalog.jsonb;
      else
        execute v_call using p_run.payload;
      end if;
      -- A change of user ends with the handler.
      if session_user operator(pg_catalog.<>) v_login then
        perform pg_catalog.set_config('session_authorization', v_login::pg_catalog.text, false);
      end if;
      if current_user operator(pg_catalog.<>) v_user then
        perform pg_catalog.set_config('role', v_role, false);
      end if;
      perform worker.check_info(v_info);
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
end;
$$;
