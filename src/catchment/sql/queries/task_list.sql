-- task_list: the newest tasks, without payloads, which can be large.
select t.id, t.command, t.queue, t.state, t.priority, t.parent_id, t.lane, t.attempt, t.created_at, t.process_start_at,
       t.completed_at, t.process_duration_ms, t.waits_for, t.due_at, t.progress, t.merged_into, t.error
  from worker.tasks as t
 where (%(state)s::text is null or t.state = %(state)s)
   and (%(command)s::text is null or t.command = %(command)s)
   and (%(queue)s::text is null or t.queue = %(queue)s)
 order by t.id desc
 limit %(limit)s::bigint
