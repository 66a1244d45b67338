-- desired_capacity: how many tasks of a queue want to run, by command, for whatever decides how many workers there are.
-- ready: could start but for the limit of the queue, also those that the next claim lets in; none of a paused queue.
-- running: started, and not recorded as ended. due_soon: their time comes within p_soon. desired is their sum; over all
-- rows it is at most what the limit of the queue allows now. Of a serial queue one task of the top level counts. At a
-- cost that does not grow with the backlog: p_most of each kind are counted; where a figure is as high, there may be
-- more. Running tasks and those that are due soon are looked for among p_most of all queues.
--
--   plan    probe
--   raises  CM018 an option has an invalid value
create or replace function worker.desired_capacity(
  p_queue  text,
  p_soon   interval default '1 minute',
  p_most   integer default 10000
)
  returns table (command text, ready bigint, running bigint, due_soon bigint, desired bigint)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.check_most(p_most);
  with queue as materialized (
    select q.queue_id, q.max_running, worker.queue_allowance(q) as allowance, q.mode = 'serial' as is_serial,
           q.paused_at is not null and coalesce(q.paused_until > worker.now(), true) as is_paused,
           (select l.head_id from worker.lane as l where l.queue_id = q.queue_id and l.lane = ''
                                                     and q.mode = 'serial') as head_id
      from worker.queue_registry as q
     where q.queue = p_queue
  ), ready as (
    select r.id
      from queue as q
     cross join lateral (select x.id from worker.ready as x
                          where x.queue_id = q.queue_id and x.tier = 0 and not q.is_paused
                          limit p_most) as r
    union all
    select r.id
      from queue as q
     cross join lateral (select x.id from worker.ready as x
                          where x.queue_id = q.queue_id and x.tier > 0 and not q.is_paused and q.head_id is null
                          limit case when q.is_serial then 1 else p_most end) as r
    union all
    select x.id from queue as q join worker.ready as x on x.id = q.head_id where not q.is_paused and x.tier > 0
    union all
    select n.id
      from queue as q
      join worker.next_let_in(p_most) as n on n.queue_id = q.queue_id
     where not q.is_paused and not q.is_serial
  ), running as (
    select x.id
      from (select r.id, r.queue_id from worker.running as r limit p_most) as x
      join queue as q on q.queue_id = x.queue_id
  ), due as (
    select x.id
      from (select b.id, b.queue_id
              from worker.blocked as b
             where b.due_at > worker.now() and b.due_at <= worker.now() + p_soon
             order by b.due_at
             limit p_most) as x
      join queue as q on q.queue_id = x.queue_id and not q.is_paused
  ), counted as (
    select t.command, count(*) filter (where s.kind = 'r') as ready, count(*) filter (where s.kind = 'x') as running,
           count(*) filter (where s.kind = 'd') as due_soon
      from (select a.id, 'r' as kind from (select distinct i.id from ready as i limit p_most) as a
            union all
            select i.id, 'x' from running as i
            union all
            select i.id, 'd' from due as i) as s
      join worker.task as t on t.id = s.id
     group by t.command
  ), summed as (
    select c.*, c.ready + c.running + c.due_soon as wanted,
           sum(c.ready + c.running + c.due_soon) over (order by c.command) as up_to_here
      from counted as c
  ), allowed as (
    -- The rate counts too: a worker that has to wait for it is not needed.
    select least(q.max_running, q.allowance + (select count(*) from running)) as most from queue as q
  )
  select s.command, s.ready, s.running, s.due_soon,
         case when a.most is null then s.wanted
              else greatest(0, least(s.wanted, a.most - (s.up_to_here - s.wanted)))::bigint
         end
    from summed as s
   cross join allowed as a
   order by s.command;
$$;
