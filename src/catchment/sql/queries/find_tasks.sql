-- find_tasks: the ids of a page; the last row says how far it has looked.
select f.id, f.looked, f.last_id, f.last_made_at, f.last_ended_at
  from worker.find_tasks(%(state)s::text, %(command)s::text, %(queue)s::text, %(lane)s::text, %(error)s::text,
                         %(made_after)s::timestamptz, %(made_before)s::timestamptz, %(top)s::boolean, %(id)s::bigint,
                         %(at)s::timestamptz, %(page)s::integer, %(looked)s::integer) as f
