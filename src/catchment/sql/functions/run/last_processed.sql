-- last_processed: what the last process_tasks call of this session ran: id, command, state, duration, error of
-- each, at most the first hundred.
--
--   session reads worker.processed
create or replace function worker.last_processed()
  returns jsonb
  language sql stable
return coalesce(nullif(pg_catalog.current_setting('worker.processed', true), ''), '[]')::jsonb;
