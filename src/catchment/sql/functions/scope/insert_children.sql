-- insert_children: write the children that a running task spawned, all in one statement for each table. Their commands
-- are not deduplicated. The caller has seen that its fence holds. p_spawns is an array of {"command", "payload",
-- "priority", "scheduled_at", "trace"}.
--
--   locks   nothing
--   raises  CM002 no such command is registered; CM004 the payload cannot be stored; CM018 an option has an invalid
--           value; CM024 a command with a limit per key cannot use a lane; see set_child_mode and
--           enforce_no_grandchildren
--   plan    walk_sorted
create or replace function worker.insert_children(
  p_task              worker.task,
  p_spawns            jsonb,
  p_child_mode        text,
  p_on_child_failure  text
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now    timestamptz := worker.now();
  v_run    worker.running;
  v_serial boolean;
  v_queues integer[];
begin
  select r.* into v_run from worker.running as r where r.id = p_task.id;
  v_serial := worker.set_child_mode(v_run, p_child_mode, p_on_child_failure, true) = 'serial';
  perform worker.raise_bad_line(s.value ->> 'command', null, s.value ->> 'trace')
     from jsonb_array_elements(p_spawns) as s
    where length(s.value ->> 'trace') > 200;
  -- raises what is wrong with it
  perform worker.insert_task(s.value ->> 'command', s.value -> 'payload', null, null, null)
     from jsonb_array_elements(p_spawns) as s
    where not exists (select from worker.command_registry as c where c.command = s.value ->> 'command')
       or jsonb_typeof(s.value -> 'payload') <> 'object'
       or pg_column_size(s.value -> 'payload') > 1000
      and worker.check_payload(s.value ->> 'command', s.value -> 'payload') is null
       or worker.check_time((s.value ->> 'scheduled_at')::timestamptz);

  with spawned as (
    select nextval('worker.task_id_seq') as id, s.*
      from (select s.command, coalesce(s.payload, '{}') as payload, s.priority, s.scheduled_at, s.trace
              from rows from (jsonb_to_recordset(p_spawns)
                              as (command text, payload jsonb, priority integer, scheduled_at timestamptz, trace text))
                   with ordinality as s (command, payload, priority, scheduled_at, trace, n)
             order by s.n) as s
  ),
  made as (
    insert into worker.task (id, command, queue_id, kind, payload, priority, parent_id, root_id, depth, place,
                             scheduled_at, max_attempts, created_at, trace)
    overriding system value
    select s.id, s.command, q.queue_id, left(c.handler_kind, 1)::"char", s.payload, coalesce(s.priority, c.priority),
           p_task.id, coalesce(p_task.root_id, p_task.id), p_task.depth + 1, s.id, s.scheduled_at, c.max_attempts,
           v_now, coalesce(s.trace, p_task.trace)
      from spawned as s
     cross join lateral (select c.* from worker.command_registry as c where c.command = s.command limit 1) as c
     cross join lateral (select q.queue_id from worker.queue_registry as q where q.queue = c.queue limit 1) as q
    returning id, queue_id, kind, priority, place, scheduled_at
  ),
  loose as (
    insert into worker.ready (queue_id, kind, tier, band, rank, place, id, since)
    select m.queue_id, m.kind, 0, m.priority, 1, m.place, m.id, v_now
      from made as m
     where not v_serial
       and (m.scheduled_at is null or m.scheduled_at <= v_now)
  ),
  lined as (
    insert into worker.blocked (id, reason, wait_id, due_at, queue_id, kind, tier, band, rank, place)
    select m.id, case when m.scheduled_at > v_now then 'scheduled' else 'serial' end,
           case when m.scheduled_at > v_now then null else p_task.id end,
           case when m.scheduled_at > v_now then m.scheduled_at end, m.queue_id, m.kind, 0, m.priority, 1, m.place
      from made as m
     where v_serial
        or m.scheduled_at > v_now
  )
  select array_agg(distinct m.queue_id) into v_queues from made as m;
  perform worker.wake(v_queues, 0);
end;
$$;
