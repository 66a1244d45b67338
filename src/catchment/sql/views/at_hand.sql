-- at_hand: ready tasks, each with what its queue makes it wait for now: its serial top level or its limit. It is null
-- for those that the next claim can start. As in in_line, nothing here is volatile.
create or replace view worker.at_hand as
select r.id, r.queue_id, r.kind, r.phase, r.rank, r.attempt, r.since,
       case
         when exists (select
                        from worker.queue_registry as q
                       where q.queue_id = r.queue_id
                         and (q.mode = 'serial' or q.max_running is not null or q.rate is not null))
           then worker.held_by_queue(r.id)
       end as waits_for
  from worker.ready as r;
comment on view worker.at_hand is
  'Ready tasks, with what the queue of each makes it wait for; null: nothing but the next claim.';
