-- cancel: request that a task and everything under it stop. An unstarted task settles at once, after the holder of its
-- row (a claim, an enqueue that merges into it) has finished. A running or waiting task is only marked, under its own
-- lock alone; from then on nothing can be spawned into its subtree. Unstarted descendants settle next
-- (sweep_cancelled), running ones are notified and settle as they end, the task itself settles last.
--
--   returns cancelled when it has settled, cancelling when it was asked to, or the state of a task that had settled
--           before
--   locks   the running row, or the scope row; an unstarted task: see settle_unstarted
--   raises  CM009 there is no such task; CM026 the task was merged into another
--   plan    walk
create or replace function worker.cancel(
  p_task_id  bigint,
  p_reason   text default 'cancelled on request'
)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_let_go constant text := 'CM000';
  v_state    text;
  v_marked   bigint;
  v_survivor bigint;
begin
  -- It may move between two looks, so look until it is found. No round keeps a lock from the one before: those on rows
  -- of a task that has moved on are given back with their subtransaction.
  loop
    if not exists (select from worker.task as t where t.id = p_task_id) then
      raise exception using errcode = 'CM009', message = format('there is no task %s', p_task_id);
    end if;
    update worker.running as r
       set cancel_reason = coalesce(r.cancel_reason, p_reason)
     where r.id = p_task_id
    returning r.id into v_marked;
    if found then
      perform worker.tell_cancelled(array[p_task_id]);
    else
      perform s.id from worker.scope as s where s.id = p_task_id and s.state = 'waiting' for update;
      update worker.scope as s
         set cancel_reason = coalesce(s.cancel_reason, p_reason)
       where s.id = p_task_id
         and s.state = 'waiting'
      returning s.id into v_marked;
    end if;
    if v_marked is not null then
      insert into worker.cancel_request (task_id, reason, requested_at) values (p_task_id, p_reason, worker.now());
      perform worker.wake(array(select q.queue_id from worker.queue_registry as q), t.tier)
         from generate_series(0, 2) as t (tier);
      return 'cancelling';
    end if;

    select o.state into v_state from worker.outcome as o where o.id = p_task_id;
    if found then
      return v_state;
    end if;
    select b.wait_id into v_survivor from worker.blocked as b where b.id = p_task_id and b.reason = 'merged';
    if found then
      raise exception using
        errcode = 'CM026',
        message = format('task %s was merged into task %s and settles with it', p_task_id, v_survivor),
        hint = format('Cancel task %s.', v_survivor);
    end if;

    begin
      perform r.id from worker.ready as r where r.id = p_task_id for update;
      perform b.id from worker.blocked as b where b.id = p_task_id for update;
      raise exception using errcode = c_let_go;
    exception
      when sqlstate 'CM000' then
        null;
    end;
    begin
      perform worker.settle_unstarted(array[p_task_id], p_reason);
      if found then
        return 'cancelled';
      end if;
      raise exception using errcode = c_let_go;
    exception
      when sqlstate 'CM000' then
        null;
    end;
  end loop;
end;
$$;
