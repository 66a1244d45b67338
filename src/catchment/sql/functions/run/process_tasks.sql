-- process_tasks: run SQL handlers of a queue, one after another, in this session.
--
-- Without p_mode it finishes the scopes that are open, then runs top-level tasks until one opens a scope or none is
-- left. p_mode top runs top-level tasks only, child runs children and joins only. Inside the caller's transaction it
-- never commits; otherwise each task commits by itself: its claim, then its work. It runs handlers with the rights of
-- its caller, so it has neither SECURITY DEFINER nor a fixed search_path; every transition is a function that has both.
create or replace procedure worker.process_tasks(
  p_batch_size      integer default null,
  p_max_runtime_ms  integer default null,
  p_queue           text default null,
  p_max_priority    integer default null,
  p_mode            text default null
)
  language plpgsql
as $$
declare
  v_probe pg_catalog.text;
begin
  -- Whether this procedure may commit is not to be asked for, but shows: only then does PL/pgSQL fetch a stored value
  -- at once, which adds its header to the size. See worker.commit_probe.
  select p.filler into v_probe from worker.commit_probe as p;
  call worker.run_tasks(pg_catalog.pg_column_size(v_probe) operator(pg_catalog.>) pg_catalog.octet_length(v_probe),
                        p_batch_size, p_max_runtime_ms, p_queue, p_max_priority, p_mode);
end;
$$;
