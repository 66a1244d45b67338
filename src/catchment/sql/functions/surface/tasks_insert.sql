-- tasks_insert: INSERT INTO worker.tasks enqueues, or spawns when it names a parent. With ON CONFLICT DO NOTHING (id is
-- -1, see tasks_on_conflict) the command must declare dedup: the new task then joins the pending one, as without the
-- clause.
--
--   raises  CM007 worker.tasks does not accept this write
create or replace function worker.tasks_insert()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if (new.id, new.state, new.depth, new.child_mode, new.attempt, new.max_attempts, new.created_at, new.process_start_at,
      new.process_stop_at, new.completed_at, new.process_duration_ms, new.completion_duration_ms, new.worker_pid,
      new.error, new.info, new.queue, new.handler_kind, new.root_id, new.follows_id, new.merged_into, new.fence,
      new.waits_for, new.due_at, new.progress, new.result, new.error_detail, new.snoozes,
      new.cancel_reason, new.worker_id)
     is distinct from
     (case when new.id = -1 then new.id end, case when new.state = 'pending' then 'pending' end, null::smallint,
      null::text, null::integer, null::integer, null::timestamptz, null::timestamptz, null::timestamptz,
      null::timestamptz, null::numeric, null::numeric, null::integer, null::text, null::jsonb, null::text, null::text,
      null::bigint, null::bigint, null::bigint, null::bigint, null::text, null::timestamptz, null::jsonb, null::jsonb,
      null::jsonb, null::integer, null::text, null::bigint) then
    raise exception using
      errcode = 'CM007',
      message = 'INSERT INTO worker.tasks may set command, payload, priority, scheduled_at, lane and parent_id only',
      hint = 'The engine fills in the rest. worker.follow_up makes a task that waits for its root.';
  end if;

  if new.id = -1 and exists (select from worker.command_registry as c where c.command = new.command
                                and c.dedup is null) then
    perform worker.refuse_on_conflict(new.command);
  end if;

  if new.parent_id is null then
    new.id := worker.insert_task(new.command, new.payload, new.priority, new.lane, new.scheduled_at);
  elsif new.lane is not null then
    raise exception using
      errcode = 'CM007',
      message = format('a child of task %s cannot have the lane %L', new.parent_id, new.lane),
      hint = 'Children are ordered by the child mode of their parent alone.';
  else
    new.id := worker.spawn_child(new.command, new.payload, new.parent_id, new.priority,
                                 p_scheduled_at => new.scheduled_at);
  end if;
  new.state := 'pending';
  return new;
end;
$$;
