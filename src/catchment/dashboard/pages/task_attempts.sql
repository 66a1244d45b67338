-- task_attempts: the last attempts of a task that did not complete, the newest first. Runs of its join are numbered
-- apart from those of its handler. is_scope: an end by its children, before it was retried by hand.
select a.attempt - case a.phase when 1 then coalesce(t.attempt, 0) else 0 end as attempt, a.phase = 1 as is_join,
       a.phase = 2 as is_scope, a.is_last, a.state, a.started_at, a.ended_at, left(a.error ->> 'kind', 200) as kind,
       left(a.error ->> 'message', 10000) as message, left(a.error ->> 'where', 1000) as place,
       left(a.error ->> 'detail', 10000) as detail, left(a.error ->> 'hint', 10000) as hint,
       left(a.error ->> 'context', 20000) as context
  from worker.attempt as a
  join worker.tasks as t on t.id = a.task_id
 where a.task_id = %(id)s::bigint
 order by a.ended_at desc, a.attempt desc
 limit %(most)s::integer
