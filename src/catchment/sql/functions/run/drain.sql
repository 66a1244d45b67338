-- drain: process_tasks until nothing is runnable.
create or replace procedure worker.drain(p_queue text default null)
  language plpgsql
as $$
declare
  v_probe text;
begin
  select p.filler into v_probe from worker.commit_probe as p; -- as in process_tasks
  loop
    call worker.run_tasks(pg_catalog.pg_column_size(v_probe) > pg_catalog.octet_length(v_probe), null, null, p_queue, null,
                          null);
    exit when worker.last_processed() = '[]';
  end loop;
end;
$$;
