-- current_task_id: the task of the running SQL handler; null outside a handler. Only a hint: holds_task proves it.
--
--   session reads worker.task_id
create or replace function worker.current_task_id()
  returns bigint
  language sql stable
return nullif(pg_catalog.current_setting('worker.task_id', true), '')::bigint;
