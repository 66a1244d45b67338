-- next_let_in: tasks that stand in line and that the next claim lets in: the head of a lane that no claim has opened
-- yet, what has become due, what a limit allows. Counts of ready tasks include them. They are looked for among the
-- first p_most that are due or have arrived, all if null; a worker that claims leaves none.
--
--   plan    probe
create or replace function worker.next_let_in(p_most integer default null)
  returns table (id bigint, queue_id integer, kind "char", since timestamptz, is_top boolean)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with due as (
    select b.id from worker.blocked as b where b.due_at <= worker.now() order by b.due_at limit p_most
  ), lanes as (
    select distinct a.queue_id, a.lane
      from (select x.queue_id, x.lane from worker.arrival as x order by x.arrival_id limit p_most) as a
  ), gates as (
    select a.gate, c.max_running, c.rate
      from (select x.gate, x.command
              from (select y.gate, y.command from worker.gate_arrival as y order by y.arrival_id limit p_most) as x
            union
            select x.gate, x.command
              from (select g.gate, g.command from worker.gate as g where g.next_at <= worker.now()
                     order by g.next_at limit p_most) as x) as a
      join worker.command_registry as c on c.command = a.command
  ), candidate as (
    select d.id from due as d
    union
    select f.id
      from lanes as a
     cross join lateral (select b.id
                           from worker.blocked as b
                          where b.reason = 'lane' and b.queue_id = a.queue_id and b.lane = a.lane
                          order by b.place, b.id
                          limit 1) as f
    union
    select f.id
      from gates as g
     cross join lateral (select b.id
                           from worker.blocked as b
                          where b.reason = 'limit' and b.lane = g.gate
                          order by b.band, b.place, b.id
                          limit least(g.max_running, g.rate, p_most)) as f
  )
  select l.id, l.queue_id, l.kind, coalesce(l.due_at, t.created_at), t.parent_id is null and l.phase = 0
    from candidate as c
   cross join lateral (select x.* from worker.in_line as x where x.id = c.id offset 0) as l
    join worker.task as t on t.id = c.id
   where l.waits_for is null;
$$;
