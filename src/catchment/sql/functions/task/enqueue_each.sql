-- enqueue_each: calls of enqueue that were made at the same time, in one statement. Element n of each array is an
-- argument of call n; an array is null if no call gives that argument. Calls that are plain, due at once and the same
-- work as nothing else, take one statement together; if one of them is not, each is made by itself.
--
--   returns the ids, in the order of the calls
--   raises  what enqueue raises for one of the calls: then none is made
--   plan    walk_sorted
create or replace function worker.enqueue_each(
  p_commands      text[],
  p_payloads      jsonb[],
  p_priorities    integer[] default null,
  p_lanes         text[] default null,
  p_scheduled_at  timestamptz[] default null,
  p_delays        interval[] default null,
  p_traces        text[] default null
)
  returns bigint[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now       timestamptz := worker.now();
  v_ids       bigint[];
  v_queue_ids integer[];
begin
  if p_scheduled_at is null and p_delays is null then
    with call as materialized (
      select u.n, u.command, u.payload, u.lane, u.trace, coalesce(u.priority, c.priority) as priority, q.queue_id,
             left(c.handler_kind, 1)::"char" as kind, c.max_attempts,
             c.dedup is null and c.limit_key is null and q.queue_id is not null
             and coalesce(length(u.lane) between 1 and 500, true) and coalesce(length(u.trace) <= 200, true)
             and coalesce(jsonb_typeof(u.payload) = 'object', false)
             and (pg_column_size(u.payload) <= 1000 and pg_column_compression(u.payload) is null
                  or worker.check_payload(u.command, u.payload) is not null) as is_plain
        from unnest(p_commands, p_payloads, p_priorities, p_lanes, p_traces) with ordinality
               as u (command, payload, priority, lane, trace, n)
        left join worker.command_registry as c on c.command = u.command
        left join worker.queue_registry as q on q.queue = c.queue
    ),
    made as (
      insert into worker.task (id, command, queue_id, kind, payload, priority, place, lane, max_attempts, created_at,
                               trace)
      overriding system value
      select i.id, i.command, i.queue_id, i.kind, i.payload, i.priority, i.id, i.lane, i.max_attempts, v_now, i.trace
        from (select nextval('worker.task_id_seq') as id, o.*
                from (select c.* from call as c order by c.n) as o
               where (select bool_and(c.is_plain) from call as c)) as i
      returning id, queue_id, kind, priority, lane
    ),
    loose as (
      insert into worker.ready (queue_id, kind, tier, band, rank, place, id, since)
      select m.queue_id, m.kind, 1, m.priority, 1, m.id, m.id, v_now from made as m where m.lane is null
    ),
    lined as (
      insert into worker.blocked (id, reason, queue_id, kind, tier, band, rank, place, lane)
      select m.id, 'lane', m.queue_id, m.kind, 1, m.priority, 1, m.id, m.lane from made as m where m.lane is not null
    ),
    announced as (
      insert into worker.arrival (queue_id, lane, first_place, last_place)
      select m.queue_id, m.lane, min(m.id), max(m.id)
        from made as m
       where m.lane is not null
       group by m.queue_id, m.lane
    )
    select array_agg(m.id order by m.id), array_agg(distinct m.queue_id) into v_ids, v_queue_ids from made as m;

    if v_ids is not null then
      perform worker.wake(v_queue_ids, 1);
      return v_ids;
    end if;
  end if;
  return array(select worker.enqueue(u.command, u.payload, u.priority, u.lane,
                                     coalesce(u.scheduled_at, worker.now() + u.delay), u.trace)
                 from unnest(p_commands, p_payloads, p_priorities, p_lanes, p_scheduled_at, p_delays, p_traces)
                        with ordinality as u (command, payload, priority, lane, scheduled_at, delay, trace, n)
                order by u.n);
end;
$$;
