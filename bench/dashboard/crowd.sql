-- crowd: a scope of %(children)s children, half of them settled, and %(finished)s finished tasks. Returns the scope.
with queue as (
  select q.queue_id from worker.queue_registry as q where q.queue = 'bench'
), finished as (
  insert into worker.task (command, queue_id, kind, payload, priority, place, max_attempts, created_at)
  select 'nothing', q.queue_id, 'p', '{"note": "a payload that no list shows"}', 100, n, 1,
         now() - interval '10 ms' * (%(finished)s - n)
    from queue as q, generate_series(1, %(finished)s) as n
  returning id, created_at
), ended as (
  insert into worker.outcome (id, state, attempt, started_at, stopped_at, completed_at, error)
  select f.id, case when f.id %% 100 = 0 then 'failed' else 'completed' end, 1, f.created_at, f.created_at,
         f.created_at, case when f.id %% 100 = 0 then '{"kind": "error", "message": "no route to host"}'::jsonb end
    from finished as f
), parent as (
  insert into worker.task (command, queue_id, kind, payload, priority, place, max_attempts, created_at)
  select 'fan_out', q.queue_id, 'p', '{}', 100, %(finished)s + 1, 1, now() - interval '1 h' from queue as q
  returning id, queue_id
), scope as (
  insert into worker.scope (id, open_children, total_children, failed_children, child_mode, on_child_failure, command,
                            queue_id, kind, band, place, depth, attempt, has_after, has_merged, started_at, stopped_at)
  select p.id, %(children)s - %(children)s / 2, %(children)s, %(children)s / 200, 'concurrent', 'wait', 'fan_out',
         p.queue_id, 'p', 100, 1, 0, 1, false, false, now() - interval '1 h', now() - interval '1 h'
    from parent as p
), child as (
  insert into worker.task (command, queue_id, kind, payload, priority, parent_id, root_id, depth, place, max_attempts,
                           created_at)
  select case n %% 3 when 0 then 'nothing' when 1 then 'sibling' else 'fan_out_slow' end, p.queue_id, 'p',
         jsonb_build_object('n', n), 100, p.id, p.id, 1, n, 1, now() - interval '1 h'
    from parent as p, generate_series(1, %(children)s) as n
  returning id, place, parent_id, queue_id
), settled as (
  insert into worker.outcome (id, state, attempt, started_at, stopped_at, completed_at, error, parent_id)
  select c.id, case when c.place %% 100 = 0 then 'failed' else 'completed' end, 1,
         t.at - interval '1 ms' * (c.place %% 997), t.at, t.at,
         case when c.place %% 100 = 0 then '{"kind": "error", "message": "no route to host"}'::jsonb end,
         case when c.place %% 100 = 0 then c.parent_id end
    from child as c
   cross join lateral (select now() - interval '1 h' * (1 - 2.0 * c.place / %(children)s)) as t (at)
   where c.place <= %(children)s / 2
), ready as (
  insert into worker.ready (queue_id, kind, tier, band, rank, place, id, since)
  select c.queue_id, 'p', 0, 100, 1, c.place, c.id, now() from child as c where c.place > %(children)s / 2
)
select p.id from parent as p
