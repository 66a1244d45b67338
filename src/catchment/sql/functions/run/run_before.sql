-- run_before: call the before hook of a task that this transaction has claimed, with the rights of the caller. The
-- caller sets a statement timeout: a hook that exceeds it is a recorded warning, as one that raises.
create or replace procedure worker.run_before(
  p_task_id    bigint,
  p_procedure  text,
  p_payload    jsonb
)
  language plpgsql
as $$
declare
  v_call pg_catalog.text := worker.call_text(p_procedure, 1);
begin
  if v_call is null then
    perform worker.record_warning(p_task_id, 'before', pg_catalog.format('procedure %s does not exist', p_procedure));
  else
    call worker.run_hook(p_task_id, 'before', v_call, p_payload, true);
    call worker.forget_settings('{}');
  end if;
end;
$$;
