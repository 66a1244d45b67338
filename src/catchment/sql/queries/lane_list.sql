-- lane_list: lanes with the task at the head of each; see the function list_lanes.
select l.queue, l.lane, l.state, l.tasks, l.head_id, t.command, t.state as head_state, l.halted_at,
       case when l.state = 'halted' then t.error end as error
  from worker.list_lanes(%(queue)s::text, %(state)s::text, %(limit)s::integer) with ordinality as l
       (queue, lane, state, head_id, halted_at, tasks, place)
  left join lateral (select y.command, y.state, y.error from worker.tasks as y where y.id = l.head_id offset 0) as t
    on true
 order by l.place
