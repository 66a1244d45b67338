-- run_handler: call the handler and settle its task, in one subtransaction: they take effect together or not at all.
-- Deadlocks and serialization failures are tried again; any other error is handed back.
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
  v_info   jsonb;
  v_sqlstate text;
  v_message  text;
  v_detail   text;
  v_hint     text;
  v_context  text;
begin
  for v_try in 0 .. c_tries loop
    begin
      v_info := null;
      if p_run.handler_call is null then
        raise exception using
          errcode = 'CM012',
          message = coalesce('the handler ' || p_run.handler_name || ' of ' || p_run.command || ' does not exist',
                             'the registry has no handler of ' || p_run.command || ' any more'),
          hint = 'Create a procedure that takes (payload jsonb) or (payload jsonb, inout info jsonb), then retry the task.';
      elsif p_run.returns_info then
        execute p_run.handler_call into v_info using p_run.payload, null::jsonb;
      else
        execute p_run.handler_call using p_run.payload;
      end if;
      p_state := worker.complete_task(p_run.id, p_run.fence, v_info);
      if p_commits then
        -- A deferred constraint that fails is the handler's failure, not the loop's.
        set constraints all immediate;
      end if;
      p_error := null;
      return;
    exception
      when query_canceled or assert_failure or others then
        get stacked diagnostics v_sqlstate = returned_sqlstate, v_message = message_text, v_detail = pg_exception_detail,
                                v_hint = pg_exception_hint, v_context = pg_exception_context;
        p_error := pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
          'kind', v_sqlstate, 'message', v_message, 'detail', nullif(v_detail, ''), 'hint', nullif(v_hint, ''),
          'context', nullif(v_context, '')));
    end;
    exit when v_sqlstate not in ('40001', '40P01') or v_try = c_tries;
    perform pg_catalog.pg_sleep(0.1 * 2 ^ v_try + pg_catalog.random() * 0.05);
  end loop;
end;
$$;
