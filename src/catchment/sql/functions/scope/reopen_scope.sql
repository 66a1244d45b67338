-- reopen_scope: the failed and cancelled children of a settled task run again; it waits for them. A failed join runs alone.
-- Folded children share the fate of their survivor again. A scope with nothing left to run is left for retry to close.
--
--   failed | cancelled -> waiting
--   locks   the scope rows of the subtree, deepest first
create or replace function worker.reopen_scope(p_task_id bigint)
  returns text
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_children bigint[];
  v_twins    bigint[];
  v_scope    worker.scope;
  v_child    bigint;
  v_later    bigint[];
begin
  v_children := array(
    select c.id
      from worker.task as c
      join worker.outcome as o on o.id = c.id
     where c.parent_id = p_task_id
       and o.state <> 'completed'
       and o.merged_into is null);
  -- Under a serial parent, child scopes with work left open one after another, as their turn comes.
  v_later := array(
    select s.id
      from worker.scope as s
     where s.id = any (v_children)
       and s.failed_children + s.cancelled_children > 0
       and (select p.child_mode = 'serial' from worker.scope as p where p.id = p_task_id));
  foreach v_child in array v_children loop
    if v_child <> all (v_later) and exists (select from worker.scope as s where s.id = v_child) then
      perform worker.reopen_scope(v_child);
    end if;
  end loop;

  with again as (
    delete from worker.outcome as o
     using worker.task as c
     where c.parent_id = p_task_id
       and o.id = c.id
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
    from worker.task as c
   where c.parent_id = p_task_id
     and o.id = c.id
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
    values (v_scope.queue_id, v_scope.kind, 0, v_scope.band, 1, v_scope.place, p_task_id, 1, v_scope.attempt, worker.now());
  end if;

  with again as (
    delete from worker.outcome as o
     where o.id = any (v_children)
       and (o.id = any (v_later) or not exists (select from worker.scope as s where s.id = o.id))
    returning o.id, o.attempt
  )
  insert into worker.blocked (id, reason, wait_id, queue_id, kind, tier, band, rank, place, phase, attempt)
  select t.id, 'serial', p_task_id, t.queue_id, t.kind, 0, t.priority, 1, t.place,
         case when t.id = any (v_later) then 2 else 0 end, a.attempt
    from again as a
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
