-- lanes: lanes with work, and what their heads do. One that has its first tasks, and that no claim has opened yet, is
-- ready.
create or replace view worker.lanes as
select q.queue, l.lane,
       case
         when l.halted_at is not null then 'halted'
         when l.head_id is null       then 'idle'
         when r.waits_for is not null then 'waiting'
         when r.id is not null        then 'ready'
         when n.id is not null        then 'running'
         else 'waiting'
       end as state,
       l.head_id, l.halted_at
  from worker.lane as l
  join worker.queue_registry as q on q.queue_id = l.queue_id
  left join worker.at_hand as r on r.id = l.head_id and r.phase = 0
  left join worker.running as n on n.id = l.head_id and n.phase = 0
union all
select q.queue, a.lane, case when w.waits_for is null then 'ready' else 'waiting' end, h.id, null
  from (select x.queue_id, x.lane from worker.arrival as x group by x.queue_id, x.lane) as a
  join worker.queue_registry as q on q.queue_id = a.queue_id
 cross join lateral (select b.id
                       from worker.blocked as b
                      where b.reason = 'lane' and b.queue_id = a.queue_id and b.lane = a.lane
                      order by b.place, b.id
                      limit 1) as h
  join worker.in_line as w on w.id = h.id
 where not exists (select from worker.lane as l where l.queue_id = a.queue_id and l.lane = a.lane);
comment on view worker.lanes is
  'Lanes with work. ready: the head can start. running: the head runs. waiting: the head waits for its scope, its '
  'join, its retry, its snooze or the limit of its queue. halted: the head failed; retry it, or '
  'worker.skip_halted. The empty lane is the top level of a serial queue.';
