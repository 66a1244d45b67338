-- reopen_scope: the failed and cancelled children of a settled task run again, child scopes included, each in its turn;
-- the task waits for them. A failed join runs alone. Folded children share the fate of their survivor again. Scopes
-- below with nothing left to run have completed before (complete_spent).
--
--   failed | cancelled -> waiting
--   locks   the outcome rows of its children, then its scope row, then what unblock locks
create or replace function worker.reopen_scope(p_task_id bigint)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_children bigint[];
  v_twins    bigint[];
  v_attempts integer[];
  v_scope    worker.scope;
begin
  with again as (
    delete from worker.outcome as o
     where o.parent_id = p_task_id
       and o.state <> 'completed'
       and o.merged_into is null
    returning o.id, o.attempt
  )
  select coalesce(array_agg(a.id), '{}'), array_agg(a.attempt) into v_children, v_attempts from again as a;
  with again as (
    delete from worker.outcome as o
     where o.parent_id = p_task_id
       and o.state <> 'completed'
       and o.merged_into = any (v_children)
    returning o.id, o.merged_into
  ),
  held as (
    insert into worker.blocked (id, reason, wait_id, queue_id, kind, tier, band, rank, place)
    select t.id, 'merged', a.merged_into, t.queue_id, t.kind, 0, t.priority, 1, t.place
      from again as a
      join worker.task as t on t.id = a.id
    returning id
  )
  select coalesce(array_agg(h.id), '{}') into v_twins from held as h;
  update worker.outcome as o
     set state = 'completed',
         error = null
   where o.parent_id = p_task_id
     and o.state <> 'completed'
     and o.merged_into is not null;

  delete from worker.outcome as o where o.id = p_task_id;
  update worker.scope as s
     set state              = 'waiting',
         open_children      = cardinality(v_children || v_twins),
         failed_children    = 0,
         cancelled_children = 0,
         cancel_reason      = null,
         is_joining         = v_children = '{}'
                              and exists (select from worker.command_registry as c
                                           where c.command = s.command and c.join_procedure is not null)
   where s.id = p_task_id
  returning s.* into v_scope;
  if v_scope.is_joining then
    insert into worker.ready (queue_id, kind, tier, band, rank, place, id, phase, attempt, since)
    values (v_scope.queue_id, v_scope.kind, 0, v_scope.band, 1, v_scope.place, p_task_id, 1,
            greatest(v_scope.attempt, (select max(a.attempt) from worker.attempt as a where a.task_id = p_task_id
                                                                                        and a.phase = 1)),
            worker.now());
  end if;

  insert into worker.blocked (id, reason, wait_id, queue_id, kind, tier, band, rank, place, phase, attempt)
  select t.id, 'serial', p_task_id, t.queue_id, t.kind, 0, t.priority, 1, t.place,
         case when exists (select from worker.scope as s where s.id = t.id) then 2 else 0 end, a.attempt
    from unnest(v_children, v_attempts) as a (id, attempt)
    join worker.task as t on t.id = a.id;
  if v_scope.child_mode = 'serial' then
    perform worker.next_serial(array[p_task_id]);
  else
    perform worker.unblock(worker.send_to_gates(
      array(select b.id from worker.blocked as b where b.wait_id = p_task_id and b.reason = 'serial')));
  end if;
  perform worker.wake(array[v_scope.queue_id], 0);
  return 'waiting';
end;
$$;
