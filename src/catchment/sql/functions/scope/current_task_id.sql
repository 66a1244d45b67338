-- current_task_id: which task the running SQL handler belongs to; null outside a handler. A hint: whatever needs to be sure asks
-- holds_task.
create or replace function worker.current_task_id()
  returns bigint
  language sql
  stable
return nullif(pg_catalog.current_setting('worker.task_id', true), '')::bigint;
