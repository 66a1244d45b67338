-- ended_tasks: which tasks have ended, in the order of their ends, behind the end of task p_after_id at p_after. Looks
-- at no more than p_most ends, whatever the filters choose of them. The last end that it looked at is always returned,
-- so that the next call begins there; is_chosen says whether it is one of those asked for.
--
--   plan    walk_sorted
create or replace function worker.ended_tasks(
  p_after     timestamptz,
  p_after_id  bigint default 0,
  p_states    text[] default null,
  p_queue     text default null,
  p_command   text default null,
  p_lane      text default null,
  p_most      integer default 10000
)
  returns table (id bigint, state text, completed_at timestamptz, is_chosen boolean)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- few of all, with a separate index
  v_is_trouble  boolean := coalesce('completed' <> all (p_states), false);
  v_is_filtered boolean := coalesce(p_queue, p_command, p_lane) is not null;
  -- 0 for a queue that does not exist: no task has it
  v_queue_id    integer := case when p_queue is not null then
                             coalesce((select q.queue_id from worker.queue_registry as q where q.queue = p_queue), 0)
                           end;
begin
  return query
  with looked as materialized (
    (select o.id, o.state, o.completed_at
       from worker.outcome as o
      where not v_is_trouble
        and o.completed_at >= p_after
        and (o.completed_at, o.id) > (p_after, p_after_id)
      order by o.completed_at, o.id
      limit p_most)
    union all
    (select o.id, o.state, o.completed_at
       from worker.outcome as o
      where v_is_trouble
        and o.state <> 'completed'
        and o.completed_at >= p_after
        and (o.completed_at, o.id) > (p_after, p_after_id)
      order by o.completed_at, o.id
      limit p_most)
  ), chosen as (
    select l.id, l.state, l.completed_at,
           coalesce(l.state = any (p_states), true)
           and (not v_is_filtered
                or (v_queue_id is null or t.queue_id = v_queue_id)
                   and (p_command is null or t.command = p_command)
                   and (p_lane is null or coalesce(t.lane = p_lane, false))) as is_chosen,
           lead(l.id) over (order by l.completed_at, l.id) is null as is_last
      from looked as l
      -- null is found nowhere, without a look into the index
      left join worker.task as t on t.id = case when v_is_filtered then l.id end
  )
  select c.id, c.state, c.completed_at, c.is_chosen
    from chosen as c
   where c.is_chosen or c.is_last
   order by c.completed_at, c.id;
end;
$$;
