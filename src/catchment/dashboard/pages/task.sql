-- task: one task without payload and result.
select t.id, t.command, t.queue, t.state, t.priority, t.parent_id, t.root_id, t.lane, t.attempt, t.max_attempts,
       t.handler_kind, t.created_at, t.scheduled_at, t.process_start_at, t.process_stop_at, t.completed_at,
       t.process_duration_ms::float8, t.completion_duration_ms::float8, t.waits_for, t.due_at, t.follows_id,
       t.merged_into, t.snoozes, t.result is not null as has_result, t.info is not null as has_info,
       left(t.error, 10000) as error, left(t.error_detail ->> 'kind', 200) as error_kind,
       left(t.error_detail ->> 'where', 1000) as error_place, left(t.error_detail ->> 'hint', 10000) as error_hint,
       left(t.error_detail ->> 'context', 20000) as error_context,
       worker.retry_id(t.id) as retry_id
  from worker.tasks as t
 where t.id = %(id)s::bigint
