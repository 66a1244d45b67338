-- queues: each queue with what is in it.
create or replace view worker.queues as
select q.queue, q.mode, q.concurrency, q.max_depth,
       q.paused_at is not null and coalesce(q.paused_until > worker.now(), true) as is_paused, q.paused_until,
       coalesce(r.n, 0) + coalesce(l.n, 0) as ready, coalesce(b.n, 0) - coalesce(l.n, 0) as blocked,
       coalesce(n.n, 0) as processing, coalesce(s.n, 0) as waiting, least(r.oldest, l.oldest) as oldest_ready_since,
       q.description, coalesce(h.n, 0) as halted_lanes
  from worker.queue_registry as q
  left join (select x.queue_id, count(*) as n, min(x.since) as oldest from worker.ready as x group by x.queue_id) as r
    using (queue_id)
  left join (select x.queue_id, count(*) as n from worker.blocked as x group by x.queue_id) as b using (queue_id)
  left join (select x.queue_id, count(*) as n, min(x.since) as oldest from worker.next_let_in() as x
              group by x.queue_id) as l using (queue_id)
  left join (select x.queue_id, count(*) as n from worker.running as x group by x.queue_id) as n using (queue_id)
  left join (select x.queue_id, count(*) as n from worker.scope as x where x.state = 'waiting' group by x.queue_id) as s
    using (queue_id)
  left join (select x.queue_id, count(*) as n from worker.lane as x where x.halted_at is not null group by x.queue_id)
         as h using (queue_id);
comment on view worker.queues is
  'Each queue with the number of its unsettled tasks by place. ready counts what the next claim lets in, too.';
