-- explain_settled: how and when a task has settled, and the lane that it has halted, or that has continued without it.
-- See explain.
create or replace function worker.explain_settled(
  p_task_id  bigint,
  p_now      timestamptz
)
  returns setof worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select 'settled', false,
         jsonb_strip_nulls(jsonb_build_object(
           'state', o.state, 'at', o.completed_at, 'attempt', o.attempt, 'error', o.error ->> 'kind',
           'child_id', o.error -> 'child' -> 'id', 'merged_into', o.merged_into, 'follows', o.error -> 'follows',
           'halted', l.lane, 'queue', l.queue, 'skip', l.skip)),
         format('It %s at %s%s%s.',
                case o.state when 'cancelled' then 'was cancelled' else o.state end,
                worker.said_when(o.completed_at, p_now),
                case
                  when o.merged_into is not null then format(', with task %s, which it was merged into', o.merged_into)
                  when o.error -> 'child' ->> 'id' is not null
                    then format(', because of task %s below it', o.error -> 'child' ->> 'id')
                  when o.error ->> 'follows' is not null
                    then format(', because it follows task %s, which did not complete', o.error ->> 'follows')
                  when o.state = 'failed' then ', with ' || coalesce(o.error ->> 'kind', 'an error')
                  else ''
                end,
                ', and halts ' || l.name),
         case when o.state <> 'completed' then
           'catchment task retry ' || r.id
           || case
                when l.name is not null
                  then format(E'  # run what failed again\n%s  # skip it, so that %s continues', l.skip, l.name)
                when exists (select
                               from worker.task as t
                               join worker.outcome as x on x.id = t.id and x.state <> 'completed'
                              where t.id = r.id
                                and t.lane is not null
                                and not exists (select
                                                  from worker.lane as h
                                                 where h.queue_id = t.queue_id
                                                   and h.lane = t.lane
                                                   and h.head_id = t.id))
                  then '  # run it again, out of turn: its lane has continued without it'
                else ''
              end
         end
    from worker.outcome as o
    left join lateral (
      select h.lane, q.queue, worker.shell_command('catchment lane skip', q.queue, h.lane) as skip,
             case h.lane when '' then 'serial queue ' || q.queue
                         else format('lane %s of queue %s', h.lane, q.queue) end as name
        from worker.task as t
        join worker.lane as h on h.queue_id = t.queue_id and h.lane = coalesce(t.lane, '')
        join worker.queue_registry as q on q.queue_id = h.queue_id
       where t.id = o.id and h.head_id = o.id and h.halted_at is not null
       limit 1
    ) as l on true
   cross join lateral (
      select coalesce(
               o.merged_into,
               case when o.error ->> 'follows' ~ '^\d{1,18}$' then (o.error ->> 'follows')::bigint end,
               worker.retry_id(o.id)) as id
    ) as r
   where o.id = p_task_id;
$$;
