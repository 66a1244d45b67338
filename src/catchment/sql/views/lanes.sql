-- lanes: lanes with work and what holds them.
create or replace view worker.lanes as
select q.queue, l.lane,
       case
         when l.halted_at is not null then 'halted'
         when l.head_id is null       then 'idle'
         when r.id is not null        then 'ready'
         when n.id is not null        then 'leased'
         else 'held'
       end as state,
       l.head_id, l.halted_at
  from worker.lane as l
  join worker.queue_registry as q on q.queue_id = l.queue_id
  left join worker.ready as r on r.id = l.head_id and r.phase = 0
  left join worker.running as n on n.id = l.head_id and n.phase = 0;
comment on view worker.lanes is
  'Lanes with work. held: the head waits for its scope, its join or its retry. halted: the head failed; retry it, or '
  'worker.skip_halted. The empty lane is the top level of a serial queue.';
