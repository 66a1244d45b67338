-- offspring_noted: what note_offspring noted in this transaction about the running handler of a task.
create or replace function worker.offspring_noted(p_task_id bigint)
  returns jsonb
  language sql
  stable
return coalesce(nullif(pg_catalog.current_setting('worker.offspring', true), '')::jsonb -> p_task_id::text, '{}');
