-- tasks: every task with its state: the surface for people and programs. Each branch has a constant state, so that a
-- filter on state reads only the tables it needs.
create or replace view worker.tasks as
select t.id, t.command, t.payload, p.state, t.priority, t.parent_id, t.depth, p.child_mode, t.lane, t.scheduled_at,
       p.attempt, t.max_attempts, t.created_at, p.started_at as process_start_at, p.stopped_at as process_stop_at,
       p.completed_at,
       case when isfinite(p.stopped_at) and isfinite(p.started_at)
         then round(extract(epoch from p.stopped_at - p.started_at) * 1000, 3) end as process_duration_ms,
       case when isfinite(p.completed_at) and isfinite(p.started_at)
         then round(extract(epoch from p.completed_at - p.started_at) * 1000, 3) end as completion_duration_ms,
       p.worker_pid, p.error ->> 'message' as error, p.info,
       q.queue, case t.kind when 's' then 'sql' else 'python' end as handler_kind, t.root_id, t.follows_id,
       p.merged_into, p.fence, p.waits_for, p.due_at, p.progress, p.result, p.error as error_detail,
       coalesce((select z.times from worker.snoozed as z where z.task_id = t.id), 0) as snoozes, p.cancel_reason,
       p.worker_id
  from (
    select r.id, 'pending' as state, null::text as child_mode, r.attempt,
           null::timestamptz as started_at, null::timestamptz as stopped_at, null::timestamptz as completed_at,
           null::integer as worker_pid, null::jsonb as error, null::jsonb as info, null::bigint as merged_into,
           null::bigint as fence, r.waits_for, null::timestamptz as due_at, null::jsonb as progress,
           null::jsonb as result, null::text as cancel_reason, null::bigint as worker_id
      from worker.at_hand as r
     where r.phase = 0
       and r.rank <> 0
    union all
    select r.id, 'interrupted', null, r.attempt, null, null, null, null, null, null, null, null, r.waits_for, null,
           null, null, null, null
      from worker.at_hand as r
     where r.phase = 0
       and r.rank = 0
    union all
    select b.id, 'pending', null, b.attempt, null, null, null, null, null, null,
           case when b.reason = 'merged' then b.wait_id end, null, b.waits_for, b.due_at, null, null, null, null
      from worker.in_line as b
     where b.phase <> 1
    union all
    -- Of one whose join runs, attempt counts those of the handler.
    select r.id, 'processing', null,
           case r.phase when 1 then (select s.attempt from worker.scope as s where s.id = r.id) else r.attempt end,
           r.started_at, null, null, r.worker_pid, null, null, null, r.fence, null, r.deadline_at, r.progress, null,
           r.cancel_reason, r.worker_id
      from worker.running as r
    union all
    select s.id, 'waiting', s.child_mode, s.attempt, s.started_at, s.stopped_at, null, s.worker_pid, null, s.info, null,
           null, case when s.is_joining then 'join' else 'children' end,
           case when s.is_joining then (select b.due_at from worker.blocked as b where b.id = s.id) end,
           jsonb_build_object('done', s.total_children - s.open_children, 'total', s.total_children, 'failed',
                              s.failed_children, 'cancelled', s.cancelled_children),
           null, s.cancel_reason, null
      from worker.scope as s
     where s.state = 'waiting'
       and not exists (select from worker.running as r where r.id = s.id)
    union all
    select o.id, o.state, (select s.child_mode from worker.scope as s where s.id = o.id), o.attempt, o.started_at,
           o.stopped_at, o.completed_at, o.worker_pid, o.error, o.info, o.merged_into, null, null, null,
           (select jsonb_build_object('done', s.total_children, 'total', s.total_children, 'failed', s.failed_children,
                                      'cancelled', s.cancelled_children)
              from worker.scope as s
             where s.id = o.id),
           o.result, null, null
      from worker.outcome as o
  ) as p
  join worker.task as t on t.id = p.id
  join worker.queue_registry as q on q.queue_id = t.queue_id;
comment on view worker.tasks is
  'Every task. INSERT enqueues (command, payload, priority, scheduled_at, lane, parent_id). UPDATE may change payload, '
  'priority and scheduled_at of a task never tried, or set state to cancelled or pending (retry).';
comment on column worker.tasks.cancel_reason is
  'Why a task that runs or waits was asked to stop; null if it was not, and once it has settled.';
comment on column worker.tasks.worker_id is
  'The worker process that runs it now: see worker.worker. Null if no attempt runs, or in a session of no worker.';
alter view worker.tasks alter column payload set default '{}';
alter view worker.tasks alter column id set default worker.tasks_on_conflict();
