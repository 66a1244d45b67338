-- drain: process_tasks until nothing is runnable.
create or replace procedure worker.drain(p_queue text default null)
  language plpgsql
as $$
declare
  v_commits boolean := worker.may_commit();
begin
  loop
    call worker.run_tasks(v_commits, null, null, p_queue, null, null);
    exit when worker.last_processed() = '[]';
  end loop;
end;
$$;
