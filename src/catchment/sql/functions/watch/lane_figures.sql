-- lane_figures: lanes by p_order: halted (the first to halt first), longest (by the tasks behind their heads) or oldest
-- (by their heads), at a cost that does not grow with the backlog. The longest and the oldest are looked for in p_pages
-- pages of 8 kB of the tables: in all, unless there are more. behind counts the tasks behind the head up to 1000; about
-- is the number of them by what was looked at, and exact if that was everything.
--
-- state is that of the head, as in the view lanes: halted, running, waiting or ready. The lane without a name is the
-- top level of a serial queue.
--
--   plan    probe
create or replace function worker.lane_figures(
  p_order  text,
  p_limit  integer default 20,
  p_pages  integer default 400
)
  returns table (queue text, lane text, state text, head_id bigint, command text, head_state text, waits_for text,
                 since timestamptz, created_at timestamptz, halted_at timestamptz, error text, behind bigint,
                 about bigint, is_sampled boolean)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_seed  constant integer := 7; -- the same pages each time: a page that is looked at again shows the same lanes
  c_most  constant integer := 1000;
  c_old   constant integer := 5000;
  v_line  double precision := least(1, p_pages * 8192.0 / greatest(pg_relation_size('worker.blocked'), 1));
  v_lanes double precision := least(1, p_pages * 8192.0 / greatest(pg_relation_size('worker.lane'), 1));
begin
  return query
  with line as materialized (
    select b.queue_id, b.lane, count(*) as n
      from worker.blocked as b tablesample system (100 * v_line) repeatable (c_seed)
     where b.reason = 'lane'
       and p_order <> 'halted'
     group by b.queue_id, b.lane
  ), opened as materialized (
    select l.queue_id, l.lane, l.head_id
      from worker.lane as l tablesample system (100 * v_lanes) repeatable (c_seed)
     where l.head_id is not null
       and p_order <> 'halted'
  ), chosen as (
    (select l.queue_id, l.lane
       from worker.lane as l
      where l.halted_at is not null
        and p_order = 'halted'
      order by l.halted_at, l.queue_id, l.lane
      limit p_limit)
    union
    (select l.queue_id, l.lane from line as l where p_order = 'longest' order by l.n desc, l.lane limit p_limit)
    union
    (select l.queue_id, l.lane from opened as l where p_order = 'oldest' order by l.head_id limit p_limit)
    union
    -- Where few tasks stand in line, heads alone; and the top level of serial queues, whose tasks are ready.
    (select l.queue_id, l.lane from opened as l where p_order = 'longest' order by l.lane <> '', l.head_id
      limit p_limit)
    union
    (select o.queue_id, o.lane
       from (select b.queue_id, b.lane, b.reason from worker.blocked as b where p_order = 'oldest'
              order by b.id limit c_old) as o
      where o.reason = 'lane'
      limit p_limit)
  ), seen as (
    select c.queue_id, c.lane, q.queue, l.halted_at, l.head_id is null as is_new,
           coalesce(l.head_id, (select b.id
                                  from worker.blocked as b
                                 where b.reason = 'lane' and b.queue_id = c.queue_id and b.lane = c.lane
                                 order by b.place, b.id
                                 limit 1)) as head_id
      from chosen as c
      join worker.queue_registry as q on q.queue_id = c.queue_id
      left join worker.lane as l on l.queue_id = c.queue_id and l.lane = c.lane
  ), counted as (
    select s.*,
           (select count(*)
              from (select
                      from worker.blocked as b
                     where b.reason = 'lane' and b.queue_id = s.queue_id and b.lane = s.lane and b.id <> s.head_id
                     limit c_most) as x
             where s.lane <> '')
           + (select count(*)
                from (select
                        from worker.ready as r
                       where r.queue_id = s.queue_id and r.tier = 1 and r.id <> s.head_id
                       limit c_most) as x
               where s.lane = '') as behind,
           (select round(l.n / v_line)::bigint - s.is_new::integer
              from line as l where l.queue_id = s.queue_id and l.lane = s.lane) as about
      from seen as s
  )
  select c.queue, c.lane,
         case
           when c.halted_at is not null                   then 'halted'
           when h.standing ->> 'state' = 'processing'     then 'running'
           when h.standing ->> 'waits_for' is not null    then 'waiting'
           else 'ready'
         end,
         c.head_id, h.standing ->> 'command', h.standing ->> 'state', h.standing ->> 'waits_for',
         (h.standing ->> 'since')::timestamptz, t.created_at, c.halted_at,
         case when c.halted_at is not null
           then (select left(o.error ->> 'message', 300) from worker.outcome as o where o.id = c.head_id) end,
         c.behind, greatest(c.about, c.behind), v_line < 1 or v_lanes < 1
    from counted as c
   cross join lateral (select worker.standing(c.head_id) as standing) as h
    left join lateral (select y.created_at from worker.task as y where y.id = c.head_id limit 1) as t on true
   where c.head_id is not null
   order by case p_order when 'halted' then c.halted_at end,
            case p_order when 'longest' then greatest(c.about, c.behind) end desc nulls last,
            c.head_id
   limit p_limit;
end;
$$;
