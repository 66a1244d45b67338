-- drain: process_tasks until nothing is runnable.
create or replace procedure worker.drain(p_queue text default null)
  language plpgsql
as $$
declare
  v_probe   pg_catalog.text;
  v_is_sure boolean := false; -- the last look began at the start of the queues
begin
  select p.filler into v_probe from worker.commit_probe as p; -- as in process_tasks
  loop
    call worker.run_tasks(pg_catalog.pg_column_size(v_probe) operator(pg_catalog.>) pg_catalog.octet_length(v_probe),
                          null, null, p_queue, null, null);
    if worker.last_processed() operator(pg_catalog.<>) '[]' then
      v_is_sure := false;
    else
      exit when v_is_sure;
      perform worker.look_from_start();
      v_is_sure := true;
    end if;
  end loop;
end;
$$;
