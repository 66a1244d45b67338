-- task_attempts: the last attempts of a task that did not complete, the newest first.
select a.attempt, a.state, a.started_at, a.ended_at, left(a.error ->> 'kind', 200) as kind,
       left(a.error ->> 'message', 10000) as message, left(a.error ->> 'where', 1000) as place,
       left(a.error ->> 'detail', 10000) as detail, left(a.error ->> 'hint', 10000) as hint,
       left(a.error ->> 'context', 20000) as context
  from worker.attempt as a
 where a.task_id = %(id)s::bigint
 order by a.attempt desc, a.ended_at desc
 limit %(most)s::integer
