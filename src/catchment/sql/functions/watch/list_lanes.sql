-- list_lanes: lanes with work, the halted ones first, with the task at the head of each; by queue and name. Idle ones,
-- serial queues whose top level nobody has, only if p_state asks for them.
--
--   returns tasks: how many stand in the lane, the head included; counting stops at p_most
--   plan    walk_sorted
create or replace function worker.list_lanes(
  p_queue  text default null,
  p_state  text default null,
  p_limit  integer default 50,
  p_most   integer default 1000
)
  returns table (queue text, lane text, state text, head_id bigint, halted_at timestamptz, tasks bigint)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select s.queue, s.lane, s.state, s.head_id, s.halted_at,
         least(p_most, b.behind + case when s.head_id is null then 0 else 1 end)
    from (select q.queue_id, l.queue, l.lane, l.state, l.head_id, l.halted_at
            from worker.lanes as l
            join worker.queue_registry as q on q.queue = l.queue
           where (p_queue is null or l.queue = p_queue)
             and (p_state is null and l.state <> 'idle' or l.state = p_state)
           order by l.state <> 'halted', l.queue, l.lane
           limit p_limit) as s
   cross join lateral (
     select case when s.lane = '' then
              (select count(*)
                 from (select
                         from unnest(array['s', 'p']::"char"[]) as k (kind)
                        cross join lateral (select
                                              from worker.ready as r
                                             where r.queue_id = s.queue_id and r.kind = k.kind and r.tier = 1
                                               and r.phase = 0 and r.id is distinct from s.head_id
                                             limit p_most) as x) as y)
            else
              (select count(*)
                 from (select
                         from worker.blocked as c
                        where c.reason = 'lane' and c.queue_id = s.queue_id and c.lane = s.lane and c.id <> s.head_id
                        limit p_most) as y)
            end as behind
   ) as b
   order by s.state <> 'halted', s.queue, s.lane;
$$;
