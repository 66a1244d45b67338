-- run_after_calls: call the after procedures that are due, at most p_limit. Each runs in its own transaction if the
-- caller may commit (p_commits). If p_hints is given, settings are reset after each one, see forget_settings. A fiber
-- leaves the procedures of Python tasks to the worker's connection for hooks.
--
--   session reads worker.worker_id
create or replace procedure worker.run_after_calls(
  p_commits  boolean,
  p_limit    integer default null,
  p_hints    text[] default null
)
  language plpgsql
as $$
declare
  v_is_fiber boolean := coalesce(pg_catalog.current_setting('worker.worker_id', true), '') operator(pg_catalog.<>) '';
  v_count    integer := 0;
  v_call     record;
begin
  loop
    exit when v_count operator(pg_catalog.>=) p_limit;
    select * into v_call from worker.take_after_call(not v_is_fiber);
    exit when not found;
    v_count := v_count operator(pg_catalog.+) 1;
    if v_call.call_text is not null then
      call worker.run_hook(v_call.task_id, 'after', v_call.call_text, v_call.payload, p_commits);
    elsif v_call.procedure_name is not null then
      perform worker.record_warning(v_call.task_id, 'after',
                                    pg_catalog.format('procedure %s does not exist', v_call.procedure_name));
    end if;
    if p_hints is not null then
      call worker.forget_settings(p_hints);
    end if;
    if p_commits then
      commit;
    end if;
  end loop;
end;
$$;
