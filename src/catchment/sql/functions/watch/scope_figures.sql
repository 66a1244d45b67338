-- scope_figures: progress of the children of a task, at a cost that does not grow with their number: total, open,
-- failed and cancelled are kept by the engine; interrupted, processing and waiting are counted among the first p_most
-- such tasks of all; what is left of open is pending. ended: how many children have settled in the last seconds, at
-- most 300, and less where many tasks end, since the last 2,000 ends of all tasks are looked at.
--
--   returns one row, or none if the task has no children
--   plan    walk_sorted
create or replace function worker.scope_figures(
  p_scope_id  bigint,
  p_most      integer default 10000
)
  returns table (total bigint, open bigint, failed bigint, cancelled bigint, interrupted bigint, processing bigint,
                 waiting bigint, child_mode text, on_child_failure text, is_joining boolean, cancel_reason text,
                 started_at timestamptz, stopped_at timestamptz, ended bigint, seconds double precision)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_ends constant integer := 2000;
  v_scope worker.scope;
  v_now   timestamptz := worker.now();
  v_since timestamptz;
begin
  select s.* into v_scope from worker.scope as s where s.id = p_scope_id;
  if not found then
    return;
  end if;
  total := v_scope.total_children;
  open := v_scope.open_children;
  failed := v_scope.failed_children;
  cancelled := v_scope.cancelled_children;
  child_mode := v_scope.child_mode;
  on_child_failure := v_scope.on_child_failure;
  is_joining := v_scope.is_joining;
  cancel_reason := v_scope.cancel_reason;
  started_at := v_scope.started_at;
  stopped_at := v_scope.stopped_at;
  interrupted := 0;
  processing := 0;
  waiting := 0;
  if v_scope.state = 'waiting' and open > 0 then
    select count(*) into interrupted
      from (select r.id from worker.ready as r where r.rank = 0 and r.phase = 0 order by r.id limit p_most) as x
      join worker.task as t on t.id = x.id
     where t.parent_id = p_scope_id;
    select count(*) into processing
      from (select r.id from worker.running as r order by r.id limit p_most) as x
      join worker.task as t on t.id = x.id
     where t.parent_id = p_scope_id;
    select count(*) into waiting
      from (select s.id
              from worker.scope as s
             where s.parent_id = p_scope_id
               and s.state = 'waiting'
               and not exists (select from worker.running as r where r.id = s.id)
             order by s.id
             limit p_most) as x;
    v_since := greatest(v_scope.stopped_at, v_now - interval '5 minutes');
    select count(*) filter (where t.parent_id = p_scope_id),
           extract(epoch from v_now - case when count(*) < c_ends then v_since else min(x.completed_at) end)
      into ended, seconds
      from (select o.id, o.completed_at
              from worker.outcome as o
             where o.completed_at > v_since
             order by o.completed_at desc
             limit c_ends) as x
      join worker.task as t on t.id = x.id;
  end if;
  return next;
end;
$$;
