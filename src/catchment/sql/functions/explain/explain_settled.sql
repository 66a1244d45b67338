-- explain_settled: how and when a task has settled. See explain.
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
           'child_id', o.error -> 'child' -> 'id', 'merged_into', o.merged_into, 'follows', o.error -> 'follows')),
         format('It %s at %s%s.',
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
                end),
         case when o.state <> 'completed' then
           'catchment task retry ' || coalesce(
             o.merged_into,
             case when o.error ->> 'follows' ~ '^\d{1,18}$' then (o.error ->> 'follows')::bigint end,
             (with recursive up as (
                select t.id, t.parent_id from worker.task as t where t.id = o.id
                union all
                select t.id, t.parent_id
                  from up as u
                  join worker.task as t on t.id = u.parent_id
                  join worker.outcome as p on p.id = t.id and p.state <> 'completed'
              )
              select min(u.id) from up as u))
         end
    from worker.outcome as o
   where o.id = p_task_id;
$$;
