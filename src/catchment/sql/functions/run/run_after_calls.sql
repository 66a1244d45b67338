-- run_after_calls: call the after procedures that are due, each in a transaction of its own where the caller may commit.
create or replace procedure worker.run_after_calls(p_commits boolean)
  language plpgsql
as $$
declare
  v_call record;
begin
  loop
    select * into v_call from worker.take_after_call();
    exit when not found;
    if v_call.call_text is null then
      perform worker.record_warning(v_call.task_id, 'after',
                                    pg_catalog.format('procedure %s does not exist', v_call.procedure_name));
    else
      call worker.run_hook(v_call.task_id, 'after', v_call.call_text, v_call.payload, p_commits);
    end if;
    if p_commits then
      commit;
    end if;
  end loop;
end;
$$;
