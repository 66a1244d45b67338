-- queues: each queue with what is in it.
create or replace view worker.queues as
select q.queue, q.mode, q.concurrency, q.max_depth,
       q.paused_at is not null and coalesce(q.paused_until > worker.now(), true) as is_paused, q.paused_until,
       a.n as ready, coalesce(b.n, 0) + coalesce(r.n, 0) - a.n as blocked,
       coalesce(n.n, 0) as processing, coalesce(s.n, 0) as waiting,
       case when a.n > 0 then least(r.oldest, l.oldest) end as oldest_ready_since,
       q.description, coalesce(h.n, 0) as halted_lanes
  from worker.queue_registry as q
  left join (select x.queue_id, count(*) as n, count(*) filter (where x.tier = 1 and x.phase = 0) as top,
                    min(x.since) as oldest
               from worker.ready as x group by x.queue_id) as r using (queue_id)
  left join (select x.queue_id, count(*) as n from worker.blocked as x group by x.queue_id) as b using (queue_id)
  left join (select x.queue_id, count(*) as n, count(*) filter (where x.is_top) as top, min(x.since) as oldest
               from worker.next_let_in() as x group by x.queue_id) as l using (queue_id)
 cross join lateral (select worker.startable(q, coalesce(r.n, 0) + coalesce(l.n, 0),
                                             coalesce(r.top, 0) + coalesce(l.top, 0)) as n) as a
  left join (select x.queue_id, count(*) as n from worker.running as x group by x.queue_id) as n using (queue_id)
  left join (select x.queue_id, count(*) as n from worker.scope as x where x.state = 'waiting' group by x.queue_id) as s
    using (queue_id)
  left join (select x.queue_id, count(*) as n from worker.lane as x where x.halted_at is not null group by x.queue_id)
         as h using (queue_id);
comment on view worker.queues is
  'Each queue with the number of its unsettled tasks by place. ready counts what the next claim lets in, '
  'too, and not those that wait for a serial queue or for the limit of their queue: these are blocked.';
