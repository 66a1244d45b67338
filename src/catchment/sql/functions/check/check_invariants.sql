-- check_invariants: one row for each violation of the engine's rules. An empty answer is the normal one.
--
--   plan    scan
create or replace function worker.check_invariants()
  returns table (rule text, task_id bigint, problem text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with found_at as (
    select r.id, 'ready' as at from worker.ready as r where r.phase = 0
    union all
    select b.id, 'blocked' from worker.blocked as b where b.phase <> 1
    union all
    select r.id, 'running' from worker.running as r where r.phase = 0
    union all
    select s.id, 'waiting' from worker.scope as s where s.state = 'waiting'
    union all
    select o.id, 'settled' from worker.outcome as o
  ),
  placed as (
    select t.id, t.parent_id, t.lane, count(f.at) as places, string_agg(f.at, ', ' order by f.at) as at
      from worker.task as t
      left join found_at as f on f.id = t.id
     group by t.id
  ),
  counted as (
    select t.parent_id,
           count(*) as total,
           count(*) filter (where p.at <> 'settled') as open,
           count(*) filter (where o.state = 'failed') as failed,
           count(*) filter (where o.state = 'cancelled') as cancelled,
           count(*) filter (where p.at in ('ready', 'running', 'waiting') or b.reason in ('retry', 'snooze')) as active,
           count(*) filter (where b.reason = 'serial') as in_line,
           count(*) filter (where b.reason = 'scheduled') as scheduled
      from worker.task as t
      join placed as p on p.id = t.id
      left join worker.outcome as o on o.id = t.id
      left join worker.blocked as b on b.id = t.id
     where t.parent_id is not null
     group by t.parent_id
  )
  select 'one place', p.id, format('is in %s places: %s', p.places, coalesce(p.at, 'none'))
    from placed as p where p.places <> 1
  union all
  select 'one place', f.id, format('%s without a task', f.at)
    from found_at as f where not exists (select from worker.task as t where t.id = f.id)
  union all
  select 'one place', j.id, 'a join of a task that does not wait for it'
    from (select r.id from worker.ready as r where r.phase = 1
          union all select b.id from worker.blocked as b where b.phase = 1
          union all select n.id from worker.running as n where n.phase = 1) as j
   where not exists (select from worker.scope as s where s.id = j.id and s.state = 'waiting' and s.is_joining)
  union all
  select 'nesting', p.id, format('is %s while its parent %s is settled', p.at, p.parent_id)
    from placed as p
    join worker.outcome as o on o.id = p.parent_id
   where p.at <> 'settled'
  union all
  select 'nesting', p.id, format('its parent %s neither runs nor waits', p.parent_id)
    from placed as p
   where p.parent_id is not null
     and p.at <> 'settled'
     and not exists (select from worker.running as r where r.id = p.parent_id)
     and not exists (select from worker.scope as s where s.id = p.parent_id and s.state = 'waiting')
  union all
  select 'nesting', t.id, format('depth %s under a parent of depth %s', t.depth, p.depth)
    from worker.task as t
    join worker.task as p on p.id = t.parent_id
   where t.depth <> p.depth + 1 or t.root_id <> coalesce(p.root_id, p.id)
  union all
  select 'counters', s.id,
         format('counts %s open, %s failed, %s cancelled of %s; there are %s, %s, %s of %s', s.open_children,
                s.failed_children, s.cancelled_children, s.total_children, coalesce(c.open, 0), coalesce(c.failed, 0),
                coalesce(c.cancelled, 0), coalesce(c.total, 0))
    from worker.scope as s
    left join counted as c on c.parent_id = s.id
   where (s.open_children, s.failed_children, s.cancelled_children, s.total_children)
         is distinct from (coalesce(c.open, 0), coalesce(c.failed, 0), coalesce(c.cancelled, 0), coalesce(c.total, 0))
  union all
  select 'counters', o.id, format('is %s, and its outcome names parent %s, not %s', o.state,
                                  coalesce(o.parent_id::text, 'none'), coalesce(t.parent_id::text, 'none'))
    from worker.outcome as o
    join worker.task as t on t.id = o.id
   where o.state <> 'completed'
     and o.parent_id is distinct from t.parent_id
  union all
  select 'scopes', s.id, 'waits with no open child and no join'
    from worker.scope as s
   where s.state = 'waiting' and s.open_children = 0 and not s.is_joining
  union all
  select 'scopes', s.id, format('is serial and has %s children at work', c.active)
    from worker.scope as s
    join counted as c on c.parent_id = s.id
   where s.state = 'waiting' and s.child_mode = 'serial' and s.open_children > 0
     and (c.active > 1 or c.active = 0 and s.cancel_reason is null and (c.in_line > 0 or c.scheduled = 0))
  union all
  select 'limits', null, format('gate %s counts %s held, there are %s and %s given back', g.gate, g.held,
                                coalesce(h.n, 0), coalesce(a.n, 0))
    from worker.gate as g
    left join (select t.gate, count(*) as n
                 from worker.task as t
                 join placed as p on p.id = t.id
                 left join worker.blocked as b on b.id = t.id
                where t.gate is not null
                  and (p.at in ('ready', 'running', 'waiting') or b.reason in ('retry', 'snooze'))
                group by t.gate) as h on h.gate = g.gate
    left join (select a.gate, sum(a.freed) as n from worker.gate_arrival as a group by a.gate) as a on a.gate = g.gate
   where g.held <> coalesce(h.n, 0) + coalesce(a.n, 0)
  union all
  select 'limits', b.id, format('waits at gate %s, which nobody opens', b.lane)
    from worker.blocked as b
   where b.reason = 'limit'
     and not exists (select from worker.gate as g where g.gate = b.lane)
     and not exists (select from worker.gate_arrival as a where a.gate = b.lane)
  union all
  select 'lanes', l.head_id, format('heads lane %L and is not there', l.lane)
    from worker.lane as l
   where l.head_id is not null
     and (not exists (select from worker.task as t where t.id = l.head_id)
          or l.halted_at is null and exists (select from worker.outcome as o where o.id = l.head_id))
  union all
  select 'lanes', p.id, format('is %s in lane %L and does not head it', p.at, p.lane)
    from placed as p
    join worker.task as t on t.id = p.id
    left join worker.lane as l on l.queue_id = t.queue_id and l.lane = t.lane
   where p.lane is not null
     and (p.at in ('ready', 'running', 'waiting')
          or exists (select from worker.blocked as b where b.id = p.id and b.reason in ('retry', 'snooze')))
     and l.head_id is distinct from p.id
  union all
  select 'lanes', p.id, format('is %s on a serial queue and does not head it', p.at)
    from placed as p
    join worker.task as t on t.id = p.id
    join worker.queue_registry as q on q.queue_id = t.queue_id
    left join worker.lane as l on l.queue_id = t.queue_id and l.lane = ''
   where q.mode = 'serial'
     and p.parent_id is null
     and p.at in ('running', 'waiting')
     and l.head_id is distinct from p.id
  union all
  select 'lanes', b.id, format('stands in lane %L and nothing will move it', b.lane)
    from worker.blocked as b
    left join worker.lane as l on l.queue_id = b.queue_id and l.lane = b.lane
   where b.reason = 'lane'
     and coalesce(b.place not between l.first_place and l.last_place, true)
     and not exists (select from worker.arrival as a where a.queue_id = b.queue_id and a.lane = b.lane
                                                       and b.place between a.first_place and a.last_place)
  union all
  select 'fences', r.id, format('fence %s is held %s times or was never given', r.fence,
                                count(*) over (partition by r.fence))
    from worker.running as r
   where r.fence > (select s.last_value from worker.fence as s)
      or exists (select from worker.running as x where x.fence = r.fence and x.id <> r.id)
  union all
  select 'follow-ups', b.id, format('still waits for task %s, which is settled', b.wait_id)
    from worker.blocked as b
    join worker.outcome as o on o.id = b.wait_id
   where b.reason in ('follow_up', 'merged')
  union all
  select 'dedup', k.id, 'is listed as pending under its key and is not'
    from worker.pending_key as k
   where not exists (select from worker.ready as r where r.id = k.id and r.attempt = 0)
     and not exists (select from worker.blocked as b where b.id = k.id and b.attempt = 0 and b.reason <> 'merged');
$$;
