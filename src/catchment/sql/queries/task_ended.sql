-- task_ended: what is shown of tasks that have settled: the seconds of the last attempt, from its start until the end
-- of the task was stored, how many times it failed, and the lane that is halted by the task. No payloads and no
-- results, which can be large.
select t.id, t.command, t.queue, t.handler_kind, t.lane, t.parent_id, t.state, t.attempt, t.max_attempts,
       t.process_start_at, t.completed_at, extract(epoch from t.completed_at - t.process_start_at)::float8 as seconds,
       t.merged_into, left(t.error, 1000) as error, left(t.error_detail ->> 'kind', 200) as error_kind,
       left(t.error_detail ->> 'where', 500) as error_where, left(t.error_detail ->> 'hint', 1000) as error_hint,
       case when t.state = 'failed' then worker.failures_of(t.id) end as failures,
       case when t.state = 'failed' then
         (select jsonb_build_object('queue', l.queue, 'lane', l.lane)
            from worker.lanes as l
           where l.queue = t.queue
             and l.lane = coalesce(t.lane, '')
             and l.head_id = t.id
             and l.state = 'halted')
       end as halted
  from worker.tasks as t
 where t.id = any (%(ids)s::bigint[])
   and t.state in ('completed', 'failed', 'cancelled')
 order by t.completed_at, t.id
