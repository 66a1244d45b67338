-- in_line: unstarted tasks that are not ready, each with what it waits for now. It is null for those that the next
-- claim lets in, which looks first at what is due and at what has arrived: see let_in; its queue comes last, as in
-- at_hand. explain says the same, with evidence. Nothing here is volatile, so that a query that does not ask for it
-- pays nothing.
create or replace view worker.in_line as
select b.id, b.reason, b.wait_id, b.due_at, b.queue_id, b.kind, b.phase, b.attempt,
       coalesce(
         case
           when b.reason in ('serial', 'follow_up', 'merged') or b.due_at > worker.moment() then b.reason
           when b.reason in ('retry', 'snooze') then null -- it has kept its lane, its turn and its place at a gate
           when b.reason <> 'limit' and b.lane is not null then
             case
               when exists (select from worker.lane as l where l.queue_id = b.queue_id and l.lane = b.lane)
                 or (select x.id
                       from worker.blocked as x
                      where x.reason = 'lane' and x.queue_id = b.queue_id and x.lane = b.lane
                      order by x.place, x.id
                      limit 1) <> b.id
                 then 'lane'
             end
           else
             (select case
                       when p.child_mode = 'serial' and b.reason = 'scheduled' then 'serial'
                       when f.ahead + o.held >= c.max_running or f.ahead >= floor(o.tokens + 0.000001) then 'limit'
                     end
                from worker.task as t
                left join worker.scope as p on p.id = t.parent_id
                left join worker.command_registry as c on c.command = t.command and t.gate is not null
               cross join lateral (
                 -- As many as could be let in now.
                 select count(*) as ahead
                   from (select x.band, x.place, x.id
                           from worker.blocked as x
                          where x.reason = 'limit' and x.lane = t.gate
                          order by x.band, x.place, x.id
                          limit least(c.max_running, c.rate)) as a
                  where b.reason = 'scheduled' or (a.band, a.place, a.id) < (b.band, b.place, b.id)
               ) as f
               cross join lateral (
                 select greatest(coalesce(g.held, 0) - coalesce(r.freed, 0), 0) as held,
                        coalesce(worker.refilled(g.tokens, g.refilled_at, worker.moment(), c.rate, c.rate_per), c.rate)
                        + coalesce(r.unused, 0) as tokens
                   from (select sum(y.freed) as freed, sum(y.unused) as unused
                           from (select z.gate, z.freed, z.unused
                                   from worker.gate_arrival as z order by z.arrival_id limit 1000) as y
                          where y.gate = t.gate) as r
                   left join worker.gate as g on g.gate = t.gate
               ) as o
               where t.id = b.id)
         end,
         case
           when exists (select
                          from worker.queue_registry as q
                         where q.queue_id = b.queue_id
                           and (q.mode = 'serial' or q.max_running is not null or q.rate is not null))
             then worker.held_by_queue(b.id)
         end) as waits_for
  from worker.blocked as b;
comment on view worker.in_line is
  'Unstarted tasks that are not ready, with what each waits for; null: nothing but the next claim.';
