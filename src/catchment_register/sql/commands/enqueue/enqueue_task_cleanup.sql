-- enqueue_task_cleanup: ask for settled tasks to be deleted by age.
create or replace function worker.enqueue_task_cleanup()
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('task_cleanup');
$$;
