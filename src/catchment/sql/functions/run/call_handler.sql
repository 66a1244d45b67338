-- call_handler: call the handler of a task. A change of user that it makes ends with it.
--
--   session reads role, sets role, session_authorization
create or replace procedure worker.call_handler(
  p_run  worker.sql_run,
  inout p_info jsonb
)
  language plpgsql
as $$
declare
  v_call   pg_catalog.text;
  v_user   pg_catalog.name := current_user;
  v_login  pg_catalog.name := session_user;
  v_role   pg_catalog.text := pg_catalog.current_setting('role');
begin
  p_info := null;
  -- Looked up with the rights of the caller: without usage of its schema it may not be run.
  if pg_catalog.to_regprocedure(p_run.signature) is null then
    p_run.signature := worker.find_handler(p_run.command, p_run.is_join);
    if p_run.signature is null then
      perform worker.raise_no_handler(p_run.command, p_run.name);
    end if;
  end if;
  v_call := worker.call_of(p_run.signature);
  if pg_catalog.right(v_call, 5) operator(pg_catalog.=) ', $2)' then
    execute v_call into p_info using p_run.payload, null::pg_catalog.jsonb;
  else
    execute v_call using p_run.payload;
  end if;
  if session_user operator(pg_catalog.<>) v_login then
    perform pg_catalog.set_config('session_authorization', v_login::pg_catalog.text, false);
  end if;
  if current_user operator(pg_catalog.<>) v_user then
    perform pg_catalog.set_config('role', v_role, false);
  end if;
  if p_info is not null then
    perform worker.check_info(p_info);
  end if;
end;
$$;
