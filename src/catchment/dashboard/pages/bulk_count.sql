-- bulk_count: how many tasks a bulk would change, and how many workers could do it.
select c.tasks, c.is_complete, worker.now() as seen_at,
       (select count(*) from worker.worker as w where w.lease_until > worker.now()) as workers
  from worker.count_bulk(%(verb)s::text, %(filter)s::jsonb, %(most)s::integer) as c
