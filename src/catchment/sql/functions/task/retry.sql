-- retry: a task that failed or was cancelled runs again, with its attempts counted on. A parent that failed through its
-- children goes back to waiting, its follow-ups wait for it again, and only those children run again; if none is left
-- to run (it was cancelled while the last ones completed), it completes. A child comes back only while its scope is
-- open. A task that was cancelled before it was due, or before its root completed, waits for that again; one under a
-- limit for its place.
--
--   failed | cancelled -> pending | waiting | completed
--   locks   scope rows deepest first; lane rows by key; then ready rows
--   raises  CM008 the task cannot be retried; CM009 there is no such task
--   plan    walk
create or replace function worker.retry(p_task_id bigint)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_task    worker.task;
  v_outcome worker.outcome;
  v_scope   worker.scope;
  v_settled worker.settled[];
begin
  select t.* into v_task from worker.task as t where t.id = p_task_id;
  if not found then
    raise exception using errcode = 'CM009', message = format('there is no task %s', p_task_id);
  end if;
  -- Two retries at once: the second waits here and finds nothing to do.
  select o.* into v_outcome from worker.outcome as o where o.id = p_task_id for update;
  if v_outcome.id is null or v_outcome.state = 'completed' or v_outcome.merged_into is not null then
    raise exception using
      errcode = 'CM008',
      message = format('task %s is %s, only failed and cancelled tasks can be retried', p_task_id,
                       coalesce((select t.state from worker.tasks as t where t.id = p_task_id), 'unknown')),
      hint = case
               when v_outcome.merged_into is not null
                 then format('Retry task %s, which it was merged into.', v_outcome.merged_into)
               when v_outcome.id is null
                 then format('It has not settled: "catchment task why %s" says what it waits for.', p_task_id)
               else 'Enqueue a new task to do the work once more.'
             end;
  end if;
  select s.* into v_scope from worker.scope as s where s.id = p_task_id;
  perform worker.enter_again(v_task);
  if v_scope.id is not null then
    perform worker.hold_follow_ups(p_task_id);
    if worker.complete_spent(p_task_id) then
      perform worker.reopen_scope(p_task_id);
      select worker.close_scopes(array[s]) into v_settled from worker.scope as s where s.id = p_task_id;
      v_settled[1].was_active := v_task.gate is null; -- it has no place at its gate to give back
      perform worker.follow_through(v_settled);
      return 'completed';
    elsif v_task.gate is null then
      perform worker.reopen_scope(p_task_id);
      return 'waiting';
    end if;
  end if;

  delete from worker.outcome as o where o.id = p_task_id;
  perform s.id from worker.scope as s where s.id = v_task.follows_id and s.state = 'waiting' for no key update;
  if found and v_scope.id is null then
    perform worker.hold_again(v_task, 'follow_up', v_outcome.attempt);
  elsif v_task.scheduled_at > worker.now() and v_scope.id is null then
    perform worker.hold_again(v_task, 'scheduled', v_outcome.attempt);
  elsif v_task.gate is not null then
    insert into worker.blocked (id, reason, queue_id, kind, tier, band, rank, place, lane, phase, attempt)
    values (p_task_id, 'limit', v_task.queue_id, v_task.kind, case when v_task.parent_id is null then 1 else 0 end,
            v_task.priority, 1, v_task.place, v_task.gate, case when v_scope.id is null then 0 else 2 end,
            v_outcome.attempt);
    insert into worker.gate_arrival (gate, command) values (v_task.gate, v_task.command);
  elsif v_task.lane is null
     or exists (select from worker.lane as l where l.queue_id = v_task.queue_id and l.lane = v_task.lane
                                               and l.head_id = p_task_id) then
    insert into worker.ready (queue_id, kind, tier, band, rank, place, id, attempt, since)
    values (v_task.queue_id, v_task.kind, case when v_task.parent_id is null then 1 else 0 end, v_task.priority, 1,
            v_task.place, p_task_id, v_outcome.attempt, worker.now());
  else
    insert into worker.blocked (id, reason, queue_id, kind, tier, band, rank, place, lane, attempt)
    values (p_task_id, 'lane', v_task.queue_id, v_task.kind, 1, v_task.priority, 1, nextval('worker.task_id_seq'),
            v_task.lane, v_outcome.attempt);
    insert into worker.arrival (queue_id, lane, first_place, last_place)
    select b.queue_id, b.lane, b.place, b.place from worker.blocked as b where b.id = p_task_id;
  end if;
  perform worker.wake(array[v_task.queue_id], case when v_task.parent_id is null then 1 else 0 end);
  return 'pending';
end;
$$;
