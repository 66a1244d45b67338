-- enqueue: ask for a task. It is independent of whatever runs now and commits with the caller.
create or replace function worker.enqueue(
  p_command       text,
  p_payload       jsonb default '{}',
  p_priority      integer default null,
  p_lane          text default null,
  p_scheduled_at  timestamptz default null
)
  returns bigint
  language sql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
  select worker.insert_task(p_command, p_payload, p_priority, p_lane, p_scheduled_at);
$$;
