-- run_hook: call a before or after procedure. One that raises is a recorded warning and changes nothing else; so is a
-- deferred constraint that the coming commit would find violated.
--
--   session reads role, sets role, session_authorization
create or replace procedure worker.run_hook(
  p_task_id  bigint,
  p_source   text,
  p_call     text,
  p_payload  jsonb,
  p_commits  boolean
)
  language plpgsql
as $$
declare
  v_user  pg_catalog.name := current_user;
  v_login pg_catalog.name := session_user;
  v_role  pg_catalog.text := pg_catalog.current_setting('role');
begin
  execute p_call using p_payload;
  -- As in run_handler.
  if session_user operator(pg_catalog.<>) v_login then
    perform pg_catalog.set_config('session_authorization', v_login::pg_catalog.text, false);
  end if;
  if current_user operator(pg_catalog.<>) v_user then
    perform pg_catalog.set_config('role', v_role, false);
  end if;
  if p_commits then
    set constraints all immediate;
  end if;
exception
  when query_canceled or assert_failure or others then
    perform worker.record_warning(p_task_id, p_source, sqlerrm);
end;
$$;
