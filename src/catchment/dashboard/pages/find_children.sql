-- find_children: the ids of a page; the last row says how far it has looked.
select f.id, f.looked, f.last_id, f.has_more
  from worker.find_children(%(id)s::bigint, %(state)s::text, %(command)s::text, %(after)s::bigint,
                            %(backward)s::boolean, %(page)s::integer, %(looked)s::integer) as f
