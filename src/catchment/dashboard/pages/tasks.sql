-- tasks: a page of the list, without payloads. At most %(looked)s tasks are read, in an order that an index has; the
-- filters are applied to these. There is at least one row: it says how many were read, and the last of them.
with looked as materialized (
  select t.id, t.command, t.queue, t.state, t.priority, t.parent_id, t.lane, t.attempt, t.max_attempts, t.created_at,
         t.process_start_at, t.completed_at, t.process_duration_ms, t.waits_for, t.due_at, t.error,
         case when t.state = 'waiting' then t.progress end as progress
    from worker.tasks as t
   where {conditions}
   order by {order}
   limit %(looked)s::bigint
), chosen as (
  select t.*
    from looked as t
   where (%(command)s::text is null or t.command = %(command)s::text)
     and (%(queue)s::text is null or t.queue = %(queue)s::text)
     and (%(lane)s::text is null or t.lane = %(lane)s::text)
     and (%(error)s::text is null or position(lower(%(error)s::text) in lower(t.error)) > 0)
     and (%(made_before)s::timestamptz is null or t.created_at < %(made_before)s::timestamptz)
     and (not %(top)s::boolean or t.parent_id is null)
   order by {order}
   limit %(page)s::bigint
), far as (
  select count(*) as looked_at, (array_agg(t.id order by {order}))[count(*)] as last_id,
         (array_agg(t.completed_at order by {order}))[count(*)] as last_at
    from looked as t
)
select t.id, t.command, t.queue, t.state, t.priority, t.parent_id, t.lane, t.attempt, t.max_attempts, t.created_at,
       t.process_start_at, t.completed_at, t.process_duration_ms::float8, t.waits_for, t.due_at,
       (t.progress ->> 'done')::integer as done_children, (t.progress ->> 'total')::integer as total_children,
       left(t.error, 300) as error, f.looked_at, f.last_id, f.last_at
  from far as f
  left join chosen as t on true
 order by {order}
