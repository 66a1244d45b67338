-- task: one task without payload and result. retry_id is the task whose retry runs it again: itself, or the topmost of
-- those above it that have settled with it.
select t.id, t.command, t.queue, t.state, t.priority, t.parent_id, t.root_id, t.lane, t.attempt, t.max_attempts,
       t.handler_kind, t.created_at, t.scheduled_at, t.process_start_at, t.process_stop_at, t.completed_at,
       t.process_duration_ms::float8, t.completion_duration_ms::float8, t.waits_for, t.due_at, t.follows_id,
       t.merged_into, t.snoozes, t.result is not null as has_result, t.info is not null as has_info,
       left(t.error, 10000) as error, left(t.error_detail ->> 'kind', 200) as error_kind,
       left(t.error_detail ->> 'where', 1000) as error_place, left(t.error_detail ->> 'hint', 10000) as error_hint,
       left(t.error_detail ->> 'context', 20000) as error_context,
       case when t.state in ('failed', 'cancelled') and t.merged_into is null then
         (with recursive up as (
            select t.id, t.parent_id
            union all
            select p.id, p.parent_id
              from up as c
              join worker.tasks as p on p.id = c.parent_id and p.state in ('failed', 'cancelled')
          )
          select min(u.id) from up as u)
       end as retry_id
  from worker.tasks as t
 where t.id = %(id)s::bigint
