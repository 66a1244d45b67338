-- queue_figures: each queue with what is in it, at a cost that does not grow with the backlog: no figure goes beyond
-- p_most, and where one is as high, there may be more. ready: tasks that a claim can start now, also those that it lets
-- in first, which are looked for among 2,000. later: tasks that wait for a time. blocked: those that wait for another
-- task, a lane or a limit, also that of their queue; of these and of waiting, p_most of all queues together are looked
-- at. oldest_ready_since is that of the next p_most ready tasks. failed: since p_since. workers: live ones that take
-- tasks and have a command of the queue.
--
--   plan    probe
create or replace function worker.queue_figures(
  p_since  timestamptz,
  p_most   integer default 10000
)
  returns table (queue text, mode text, concurrency integer, paused_at timestamptz, paused_until timestamptz,
                 ready bigint, oldest_ready_since timestamptz, later bigint, blocked bigint, processing bigint,
                 oldest_processing_since timestamptz, waiting bigint, failed bigint, workers bigint,
                 description text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with next as materialized (
    select n.id, n.queue_id, n.since, n.is_top from worker.next_let_in(least(p_most, 2000)) as n
  ), let_in as (
    select n.queue_id, count(*) as n, count(*) filter (where n.is_top) as top, min(n.since) as oldest
      from next as n
     group by n.queue_id
  ), blocked as (
    select x.queue_id, count(*) filter (where x.due_at is not null) as later,
           count(*) filter (where x.due_at is null) as blocked
      from (select b.id, b.queue_id, b.due_at from worker.blocked as b limit p_most) as x
     where x.id not in (select n.id from next as n)
     group by x.queue_id
  ), running as (
    select x.queue_id, count(*) as n, min(x.started_at) as oldest
      from (select r.queue_id, r.started_at from worker.running as r limit p_most) as x
     group by x.queue_id
  ), waiting as (
    select x.queue_id, count(*) as n
      from (select s.queue_id from worker.scope as s where s.state = 'waiting' limit p_most) as x
     group by x.queue_id
  ), failed as (
    select t.queue_id, count(*) as n
      from (select o.id
              from worker.outcome as o
             where o.state <> 'completed'
               and o.state = 'failed'
               and o.completed_at >= p_since
             order by o.completed_at desc
             limit p_most) as x
      join worker.task as t on t.id = x.id
     group by t.queue_id
  ), served as (
    select s.queue, count(*) as n
      from worker.served_queues() as s
      join worker.worker as w on w.worker_id = s.worker_id
     where w.lease_until > worker.now() and w.asked is null
     group by s.queue
  )
  select q.queue, q.mode, q.concurrency,
         case when coalesce(q.paused_until > worker.now(), true) then q.paused_at end,
         case when q.paused_until > worker.now() then q.paused_until end,
         least(a.n, p_most), case when a.n > 0 then least(r.oldest, i.oldest) end, coalesce(b.later, 0),
         least(coalesce(b.blocked, 0) + r.n + coalesce(i.n, 0) - a.n, p_most), coalesce(n.n, 0), n.oldest,
         coalesce(s.n, 0), coalesce(f.n, 0), coalesce(v.n, 0), q.description
    from worker.queue_registry as q
   cross join lateral (
     select count(*) as n, count(*) filter (where x.tier = 1 and x.phase = 0) as top, min(x.since) as oldest
       from (select y.since, y.tier, y.phase from worker.ready as y where y.queue_id = q.queue_id limit p_most) as x
   ) as r
    left join let_in as i on i.queue_id = q.queue_id
   cross join lateral (
     select worker.startable(q, r.n + coalesce(i.n, 0), r.top + coalesce(i.top, 0)) as n
   ) as a
    left join blocked as b on b.queue_id = q.queue_id
    left join running as n on n.queue_id = q.queue_id
    left join waiting as s on s.queue_id = q.queue_id
    left join failed as f on f.queue_id = q.queue_id
    left join served as v on v.queue = q.queue
   order by q.queue;
$$;
