-- follow_up: a top-level task that starts when the root of the current tree has completed, in that root's place: with
-- its priority (aged as it was) and arrival on the same queue, unless it asks for another priority. It is cancelled if
-- the root does not complete. Without p_trace, it continues the trace of the root.
--
--   raises  CM042 the session is not running a handler
create or replace function worker.follow_up(
  p_command       text,
  p_payload       jsonb default '{}',
  p_priority      integer default null,
  p_lane          text default null,
  p_scheduled_at  timestamptz default null,
  p_trace         text default null
)
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.insert_follow_up(worker.current_task_id(), p_command, p_payload, p_priority, p_lane, p_scheduled_at,
                                 p_trace);
$$;
