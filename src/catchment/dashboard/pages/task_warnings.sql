-- task_warnings: hooks of a task that raised, the newest first.
select w.at, w.source, left(w.message, 2000) as message
  from worker.warning as w
 where w.task_id = %(id)s::bigint
 order by w.at desc
 limit %(most)s::integer
