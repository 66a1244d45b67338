-- explain: why a task does not run now: every cause (is_blocking), and further facts. If nothing is blocking, an
-- unstarted task starts at the next claim. It reads no payload, looks at a bounded number of rows, and takes no lock.
--
--   raises  CM009 there is no such task
--   plan    explain
create or replace function worker.explain(p_task_id bigint)
  returns setof worker.condition
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now   timestamptz := worker.now();
  v_at    worker.whereabouts;
  v_task  record;
  v_ahead bigint;
  v_found worker.condition[];
begin
  select t.id, t.command, t.queue_id, t.parent_id, t.root_id, t.lane, t.gate, t.scheduled_at, t.max_attempts, q.queue
    into v_task
    from worker.task as t
    left join worker.queue_registry as q on q.queue_id = t.queue_id
   where t.id = p_task_id;
  if not found then
    raise exception using
      errcode = 'CM009',
      message = format('there is no task %s', p_task_id),
      hint = 'Its transaction may not have committed yet, or it was deleted some days after it settled.';
  end if;
  v_at := worker.whereabouts_of(p_task_id);
  if v_at.at is null then
    return query select c.* from worker.explain_settled(p_task_id, v_now) as c;
    return;
  end if;

  return query select c.* from worker.explain_cancel(p_task_id, v_task.parent_id, v_at, v_now) as c;
  if v_at.phase = 1 then
    return query select c.* from worker.explain_scope(p_task_id, v_now) as c;
  end if;
  if v_at.at = 'running' then
    return query select c.* from worker.explain_running(p_task_id, v_now) as c;
  elsif v_at.reason = 'merged' then
    return query select c.* from worker.explain_merged(v_at.wait_id, v_now) as c;
  end if;
  if v_at.at in ('running', 'waiting') or v_at.reason = 'merged' then
    return;
  end if;

  -- It has to be claimed: what it stands in line for, then its queue, then who could run it.
  v_ahead := worker.ready_before(p_task_id, v_at);
  v_found := array(
    select c from worker.explain_line(p_task_id, v_task.parent_id, v_task.queue, v_task.lane, v_task.gate,
                                      v_task.command, v_task.scheduled_at, v_task.max_attempts, v_at, v_now) as c
    union all
    select c from worker.explain_queue(v_task.queue, v_at, v_ahead, v_now) as c
    union all
    select c from worker.explain_workers(v_task.queue, v_task.command, v_at, v_now) as c);
  return query select c.* from unnest(v_found) as c;
  -- A task that only lacks a worker that may take it has its place in the order of claims.
  if not exists (select
                   from unnest(v_found) as c
                  where c.is_blocking
                    and (v_at.at <> 'ready'
                         or c.kind not in ('paused', 'no_worker', 'no_command', 'worker_paused'))) then
    return query select c.* from worker.explain_ready(v_task.queue, v_task.command, v_at, v_ahead, v_now) as c;
  end if;
end;
$$;
