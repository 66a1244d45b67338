-- enqueue_task_cleanup: request the deletion of old settled tasks.
create or replace function worker.enqueue_task_cleanup()
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('task_cleanup');
$$;
