-- task_tree: the tree that a task belongs to, from its root, depth first: p_limit tasks of it, and every task above
-- them. The task itself is the first that is chosen, then those that failed, that run, that wait, and the others; or
-- only those in p_state. Looks at no more than p_most tasks, level by level, and at those above the task.
--
--   returns the chosen tasks; children: how many a task has, shown or not. The row of the root has counts: how many
--           tasks of each command are in which state; at_least says that there may be more than were counted
--   plan    probe
create or replace function worker.task_tree(
  p_task_id  bigint,
  p_state    text default null,
  p_limit    integer default 50,
  p_most     integer default 100000
)
  returns table (id bigint, command text, state text, parent_id bigint, depth smallint, attempt integer,
                 process_duration_ms numeric, completion_duration_ms numeric, progress jsonb, error text,
                 cancel_reason text, children bigint, worker_id bigint, counts jsonb, at_least boolean)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_path bigint[];
begin
  -- A fresh table has no statistics: each row is looked up by itself, regardless of the plan.
  v_path := array(with recursive up as (
                    select t.id, t.parent_id, t.depth from worker.task as t where t.id = p_task_id
                    union all
                    select p.id, p.parent_id, p.depth
                      from up as c
                     cross join lateral (select t.id, t.parent_id, t.depth
                                           from worker.task as t
                                          where t.id = c.parent_id
                                         offset 0) as p
                  )
                  select u.id from up as u order by u.depth);
  if v_path = '{}' then
    return;
  end if;

  return query
  with recursive tree as (
    select v_path[1] as id, null::bigint as parent_id, v_path[:1] as path
    union all
    select c.id, p.id, p.path || c.id
      from tree as p
     cross join lateral (select t.id from worker.task as t where t.parent_id = p.id order by t.id offset 0) as c
  ), walked as materialized (
    select t.id, t.parent_id, t.path from tree as t limit p_most
  ), looked as materialized (
    -- the state as worker.tasks has it, by as few looks as it takes
    select w.id, w.parent_id, w.path, (select t.command from worker.task as t where t.id = w.id) as command,
           coalesce((select o.state from worker.outcome as o where o.id = w.id),
                    (select case r.rank when 0 then 'interrupted' else 'pending' end
                       from worker.ready as r
                      where r.id = w.id and r.phase = 0),
                    (select 'pending' from worker.blocked as b where b.id = w.id and b.phase <> 1),
                    (select 'processing' from worker.running as r where r.id = w.id),
                    'waiting') as state
      from (select x.id, v_path[x.place - 1] as parent_id, v_path[:x.place] as path
              from unnest(v_path) with ordinality as x (id, place)
            union all
            select w.id, w.parent_id, w.path from walked as w where w.id <> all (v_path)) as w
  ), chosen as (
    select l.path
      from looked as l
     where l.id = p_task_id
        or p_state is null
        or l.state = p_state
     order by l.id <> p_task_id,
              array_position(array['failed', 'interrupted', 'processing', 'cancelled', 'waiting', 'pending'], l.state),
              l.path
     limit p_limit
  ), counted as (
    select l.command, l.state, count(*) as tasks from looked as l group by l.command, l.state
  ), parents as (
    select l.parent_id as id, count(*) as children from looked as l where l.parent_id is not null group by l.parent_id
  )
  select t.id, t.command, t.state, t.parent_id, t.depth, t.attempt, t.process_duration_ms, t.completion_duration_ms,
         t.progress, t.error, t.cancel_reason, coalesce(n.children, 0), t.worker_id,
         case when t.parent_id is null then
           (select jsonb_agg(jsonb_build_object('command', c.command, 'state', c.state, 'tasks', c.tasks)
                             order by c.command, c.state)
              from counted as c)
         end,
         case when t.parent_id is null then (select count(*) >= p_most from walked) end
    from (select distinct x.id from chosen as c cross join lateral unnest(c.path) as x (id)) as s
    join looked as l on l.id = s.id
    left join parents as n on n.id = s.id
   cross join lateral (
     select y.id, y.command, y.state, y.parent_id, y.depth, y.attempt, y.process_duration_ms, y.completion_duration_ms,
            y.progress, y.error, y.cancel_reason, y.worker_id
       from worker.tasks as y
      where y.id = s.id
     offset 0
   ) as t
   order by l.path;
end;
$$;
