-- process_tasks: run SQL handlers of a queue, one after another, in this session.
--
-- Without p_mode it finishes the scopes that are open, then runs top-level tasks until one opens a scope or none is left.
-- p_mode top runs top-level tasks only, child runs children and joins only. Inside the caller's transaction it never commits;
-- otherwise each task commits by itself: its claim, then its work. It runs handlers with the rights of its caller, so it has
-- neither SECURITY DEFINER nor a fixed search_path; every transition is a function that has both.
create or replace procedure worker.process_tasks(
  p_batch_size      integer default null,
  p_max_runtime_ms  integer default null,
  p_queue           text default null,
  p_max_priority    integer default null,
  p_mode            text default null
)
  language plpgsql
as $$
begin
  call worker.run_tasks(worker.may_commit(), p_batch_size, p_max_runtime_ms, p_queue, p_max_priority, p_mode);
end;
$$;
