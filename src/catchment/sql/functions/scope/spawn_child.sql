-- spawn_child: make a child of the current task, or of the given one. Only inserts: the scope's counter is written with
-- the transition of the task that spawns. A running task takes children from its own handler alone, so that none is
-- runnable while that attempt can still fail; an open scope takes more until it closes. Without p_trace, the child
-- continues the trace of its parent.
--
--   locks   nothing; into an open scope below others: these others, shared
--   raises  CM005 the parent accepts no more children; CM006 the child would be too deep; CM011 the task is being
--           cancelled; CM021 there is no parent task; CM022 the scope has another policy; what insert_task raises
--   plan    walk
create or replace function worker.spawn_child(
  p_command           text,
  p_payload           jsonb default '{}',
  p_parent_id         bigint default null,
  p_priority          integer default null,
  p_child_mode        text default null,
  p_on_child_failure  text default null,
  p_scheduled_at      timestamptz default null,
  p_trace             text default null
)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_parent_id bigint := coalesce(p_parent_id, worker.current_task_id());
  v_run       worker.running;
  v_scope     worker.scope;
  v_task      worker.task;
  v_mode      text;
begin
  if v_parent_id is null then
    raise exception using
      errcode = 'CM021',
      message = format('%s was spawned outside a handler and without a parent', p_command),
      hint = 'Pass p_parent_id, or use worker.enqueue for an independent task.';
  end if;

  select r.* into v_run from worker.running as r where r.id = v_parent_id;
  if found then
    v_mode := worker.set_child_mode(v_run, p_child_mode, p_on_child_failure);
    select t.* into v_task from worker.task as t where t.id = v_parent_id;
    return worker.insert_task(p_command, p_payload, p_priority, null, p_scheduled_at, v_parent_id,
                              coalesce(v_task.root_id, v_task.id), (v_task.depth + 1)::smallint, false,
                              v_mode = 'serial', p_trace => coalesce(p_trace, v_task.trace));
  end if;

  select s.* into v_scope from worker.scope as s where s.id = v_parent_id and s.state = 'waiting' and not s.is_joining;
  if not found then
    raise exception using
      errcode = 'CM005',
      message = format('task %s takes no children: it is %s', v_parent_id,
                       coalesce((select t.state from worker.tasks as t where t.id = v_parent_id), 'unknown')),
      hint = 'Children are spawned by the handler of a running task, or into a scope that is still waiting.';
  elsif v_scope.cancel_reason is not null then
    raise exception using
      errcode = 'CM011', message = format('task %s is being cancelled: %s', v_parent_id, v_scope.cancel_reason);
  elsif p_child_mode <> v_scope.child_mode or p_on_child_failure <> v_scope.on_child_failure then
    raise exception using
      errcode = 'CM022',
      message = format('the scope of task %s is %s / %s, not %s / %s', v_parent_id, v_scope.child_mode,
                       v_scope.on_child_failure, coalesce(p_child_mode, v_scope.child_mode),
                       coalesce(p_on_child_failure, v_scope.on_child_failure));
  end if;
  -- The scope's own mark is seen again when the child is counted, those above it only here.
  perform worker.refuse_if_cancelled(v_scope.parent_id);
  select t.* into v_task from worker.task as t where t.id = v_parent_id;
  return worker.insert_task(p_command, p_payload, p_priority, null, p_scheduled_at, v_parent_id,
                            coalesce(v_task.root_id, v_task.id), (v_task.depth + 1)::smallint, true,
                            v_scope.child_mode = 'serial', p_trace => coalesce(p_trace, v_task.trace));
end;
$$;
