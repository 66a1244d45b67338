-- insert_task: write one task and put it where it belongs; every way to make a task ends here, or in enqueue_many.
--
--   locks   nothing that another transaction waits for; a merge takes the row of its twin only if it is free
--   raises  CM002 no such command is registered; CM004 the payload cannot be stored; CM018 an option has an invalid
--           value; CM020 a value does not fit its merge rule; CM024 a command with a limit per key cannot use a lane
--   writes  worker.late_child
--   session sets worker.late
--   plan    walk
create or replace function worker.insert_task(
  p_command       text,
  p_payload       jsonb,
  p_priority      integer,
  p_lane          text,
  p_scheduled_at  timestamptz,
  p_parent_id     bigint default null,
  p_root_id       bigint default null,
  p_depth         smallint default 0,
  p_late          boolean default false,
  p_is_serial     boolean default false,
  p_follows_id    bigint default null,
  p_place         bigint default null,
  p_trace         text default null
)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_command  worker.command_registry;
  v_queue_id integer;
  v_kind     "char";
  v_now      timestamptz := worker.now();
  v_payload  jsonb := worker.check_payload(p_command, p_payload);
  v_key      text;
  v_gate     text;
  v_id       bigint;
  v_place    bigint;
  v_priority integer;
  v_reason   text;
begin
  if p_lane = '' or length(p_lane) > 500 or length(p_trace) > 200 then
    perform worker.raise_bad_line(p_command, p_lane, p_trace);
  end if;
  perform worker.check_time(p_scheduled_at);
  select c.* into v_command from worker.command_registry as c where c.command = p_command;
  if not found then
    raise exception using
      errcode = 'CM002',
      message = format('unknown command %s', coalesce(quote_literal(p_command), 'null')),
      hint = coalesce(
        'Did you mean ' || worker.alike(p_command, array(select c.command from worker.command_registry as c)) || '?',
        'A worker registers the commands of its app when it starts, which takes a moment: catchment worker --app '
        'MODULE:APP, or call app.register(). A command with a SQL handler is a row of worker.command_registry. '
        '"catchment command list" shows all commands.');
  end if;
  select q.queue_id into v_queue_id from worker.queue_registry as q where q.queue = v_command.queue;
  v_kind := left(v_command.handler_kind, 1);
  v_priority := coalesce(p_priority, v_command.priority);

  if v_command.dedup is not null and p_follows_id is null then
    v_key := worker.dedup_key(v_command.dedup, p_command, p_lane, p_parent_id, v_payload);
    if v_command.merge <> '{}' then
      -- Merged with itself, a payload shows whether its values fit the rules: refuse it here, not the next one to meet
      -- it.
      perform worker.merge_payload(v_command.merge, v_payload, v_payload);
    end if;
    -- In a line, a lane or a serial scope, the twin's row stays free: the settlement of the task in front moves it on.
    if p_lane is null and not p_is_serial then
      v_id := worker.merge_into_pending(v_key, v_command.merge, v_payload, v_priority, p_scheduled_at);
      if v_id is not null then
        return v_id;
      end if;
    end if;
  end if;

  v_gate := worker.gate_of(v_command, v_payload);
  if v_gate is not null and (p_lane is not null or p_is_serial) then
    raise exception using
      errcode = 'CM024',
      message = format('%s has a limit per key, so it cannot stand in %s', p_command,
                       case when p_is_serial then 'a serial scope' else 'lane ' || quote_literal(p_lane) end),
      hint = 'Limit the queue instead, or move the limited part into a separate command.';
  end if;
  v_id := nextval('worker.task_id_seq');
  v_place := coalesce(p_place, v_id);
  v_reason := case
                when p_follows_id is not null then 'follow_up'
                when p_scheduled_at > v_now   then 'scheduled'
                when p_is_serial              then 'serial'
                when p_lane is not null       then 'lane'
                when v_gate is not null       then 'limit'
              end;

  insert into worker.task (id, command, queue_id, kind, payload, priority, parent_id, root_id, depth, follows_id, place,
                           lane, dedup_key, gate, scheduled_at, max_attempts, created_at, trace)
  overriding system value
  values (v_id, p_command, v_queue_id, v_kind, v_payload, v_priority, p_parent_id, p_root_id, p_depth, p_follows_id,
          v_place, p_lane, v_key, v_gate, p_scheduled_at, v_command.max_attempts, v_now, p_trace);

  if v_reason is null then
    insert into worker.ready (queue_id, kind, tier, band, rank, place, id, since)
    values (v_queue_id, v_kind, case when p_parent_id is null then 1 else 0 end, v_priority, 1, v_place, v_id, v_now);
  else
    insert into worker.blocked (id, reason, wait_id, due_at, queue_id, kind, tier, band, rank, place, lane)
    values (v_id, v_reason,
            case v_reason when 'follow_up' then p_follows_id when 'serial' then p_parent_id end,
            case v_reason when 'scheduled' then p_scheduled_at end,
            v_queue_id, v_kind, case when p_parent_id is null then 1 else 0 end, v_priority, 1, v_place,
            case v_reason when 'limit' then v_gate else p_lane end);
    if v_reason = 'limit' then
      insert into worker.gate_arrival (gate, command) values (v_gate, p_command);
    elsif v_reason = 'lane' then
      insert into worker.arrival (queue_id, lane, first_place, last_place)
      values (v_queue_id, p_lane, v_place, v_place);
    end if;
  end if;
  if v_key is not null then
    insert into worker.pending_key (dedup_key, id) values (v_key, v_id);
  end if;
  if p_late then
    perform set_config('worker.late', 'yes', true); -- a hint to count it soon
    insert into worker.late_child (task_id, parent_id) values (v_id, p_parent_id);
  end if;
  if v_reason is null or v_reason in ('lane', 'limit') then
    perform worker.wake(array[v_queue_id], case when p_parent_id is null then 1 else 0 end);
  end if;
  return v_id;
end;
$$;
