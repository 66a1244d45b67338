-- enqueue_many: many tasks of one command in one statement per table. p_lanes is one lane for each payload, or null.
-- p_trace is a W3C traceparent: the span that all of them continue.
--
--   returns the ids, in the order of the payloads
--   raises  CM002 no such command is registered; CM004 the payload cannot be stored; CM018 an option has an invalid
--           value; CM024 a command with a limit per key cannot use a lane
--   plan    walk
create or replace function worker.enqueue_many(
  p_command       text,
  p_payloads      jsonb[],
  p_priority      integer default null,
  p_lanes         text[] default null,
  p_scheduled_at  timestamptz default null,
  p_trace         text default null
)
  returns bigint[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_command  worker.command_registry;
  v_queue_id integer;
  v_kind     "char";
  v_now      timestamptz := worker.now();
  v_ids      bigint[];
begin
  if cardinality(p_lanes) <> cardinality(p_payloads) then
    raise exception using
      errcode = 'CM018',
      message = format('%s lanes for %s payloads, expected one lane for each', cardinality(p_lanes),
                       cardinality(p_payloads));
  end if;
  perform worker.check_time(p_scheduled_at);
  select c.* into v_command from worker.command_registry as c where c.command = p_command;
  if not found or v_command.dedup is not null or v_command.limit_key is not null or p_scheduled_at > v_now then
    return array(select worker.insert_task(p_command, u.payload, p_priority, u.lane, p_scheduled_at, p_trace => p_trace)
                   from unnest(p_payloads, p_lanes) with ordinality as u (payload, lane, n)
                  order by u.n);
  end if;
  perform worker.raise_bad_line(p_command, null, p_trace);
  perform worker.raise_bad_line(p_command, l, null) from unnest(p_lanes) as l where l = '' or length(l) > 500;
  perform worker.check_payload(p_command, u.payload)
     from unnest(p_payloads) as u (payload)
    where jsonb_typeof(u.payload) <> 'object' or pg_column_size(u.payload) > 1000
       or pg_column_compression(u.payload) is not null;
  select q.queue_id into v_queue_id from worker.queue_registry as q where q.queue = v_command.queue;
  v_kind := left(v_command.handler_kind, 1);

  with made as (
    insert into worker.task (id, command, queue_id, kind, payload, priority, place, lane, max_attempts, created_at,
                             trace)
    overriding system value
    select u.id, p_command, v_queue_id, v_kind, coalesce(u.payload, '{}'),
           coalesce(p_priority, v_command.priority), u.id, u.lane, v_command.max_attempts, v_now, p_trace
      from (select nextval('worker.task_id_seq') as id, i.payload, i.lane
              from unnest(p_payloads, p_lanes) as i (payload, lane)) as u
    returning id, priority, lane
  ),
  loose as (
    insert into worker.ready (queue_id, kind, tier, band, rank, place, id, since)
    select v_queue_id, v_kind, 1, m.priority, 1, m.id, m.id, v_now from made as m where m.lane is null
  ),
  lined as (
    insert into worker.blocked (id, reason, queue_id, kind, tier, band, rank, place, lane)
    select m.id, 'lane', v_queue_id, v_kind, 1, m.priority, 1, m.id, m.lane from made as m where m.lane is not null
  ),
  announced as (
    insert into worker.arrival (queue_id, lane, first_place, last_place)
    select v_queue_id, m.lane, min(m.id), max(m.id) from made as m where m.lane is not null group by m.lane
  )
  select array_agg(m.id order by m.id) into v_ids from made as m;

  perform worker.wake(array[v_queue_id], 1);
  return coalesce(v_ids, '{}');
end;
$$;
