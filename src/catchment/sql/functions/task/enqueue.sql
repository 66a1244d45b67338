-- enqueue: create a task. It is independent of the running task and commits with the caller. p_trace is a W3C
-- traceparent: the span that the task continues. The plain case, ready at once and the same work as nothing else, is
-- one statement; insert_task does the rest.
--
--   raises  CM002 no such command is registered; CM004 the payload cannot be stored; CM018 an option has an invalid
--           value; CM024 a command with a limit per key cannot use a lane
--   plan    probe
create or replace function worker.enqueue(
  p_command       text,
  p_payload       jsonb default '{}',
  p_priority      integer default null,
  p_lane          text default null,
  p_scheduled_at  timestamptz default null,
  p_trace         text default null
)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_id       bigint;
  v_queue_id integer;
  v_wakes    boolean;
begin
  if p_lane is null and p_scheduled_at is null and (p_trace is null or length(p_trace) <= 200)
     and jsonb_typeof(p_payload) = 'object'
     and (pg_column_size(p_payload) <= 1000 and pg_column_compression(p_payload) is null
          or worker.check_payload(p_command, p_payload) is not null) then
    with made as (
      insert into worker.task (id, command, queue_id, kind, payload, priority, place, max_attempts, created_at, trace)
      overriding system value
      select n.id, c.command, q.queue_id, left(c.handler_kind, 1)::"char", p_payload, coalesce(p_priority, c.priority),
             n.id, c.max_attempts, worker.now(), p_trace
        from (select nextval('worker.task_id_seq') as id) as n
       cross join worker.command_registry as c
        join worker.queue_registry as q on q.queue = c.queue
       where c.command = p_command
         and c.dedup is null
         and c.limit_key is null
      returning id, queue_id, kind, priority, created_at
    )
    insert into worker.ready (queue_id, kind, tier, band, rank, place, id, since)
    select m.queue_id, m.kind, 1, m.priority, 1, m.id, m.id, m.created_at from made as m
    returning id, queue_id, exists (select from worker.sleeper as s where s.queue_id = ready.queue_id and s.tier = 1)
      into v_id, v_queue_id, v_wakes;
    if v_id is not null then
      if v_wakes then
        perform worker.wake(array[v_queue_id], 1);
      end if;
      return v_id;
    end if;
  end if;
  return worker.insert_task(p_command, p_payload, p_priority, p_lane, p_scheduled_at, p_trace => p_trace);
end;
$$;
