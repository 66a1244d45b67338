-- retry_failed: the failed children of a task run again. If the task has settled, that is a retry of the task, with the
-- cancelled ones. While it waits, at most p_most come back, oldest first, in one step: the scope is written once, and
-- the rest stays failed.
--
--   returns how many children run again
--   locks   the outcome rows of the children; the scope row of the task; what a retry of each child scope locks
--   raises  CM008 the task cannot be retried; CM009 there is no such task
--   plan    walk_sorted
create or replace function worker.retry_failed(
  p_task_id  bigint,
  p_most     integer default 10000
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope    worker.scope;
  v_ids      bigint[];
  v_scopes   bigint[];
  v_attempts integer[];
  v_id       bigint;
  v_twins    integer := 0;
begin
  select s.* into v_scope from worker.scope as s where s.id = p_task_id;
  if v_scope.id is null or v_scope.state <> 'waiting' then
    perform worker.retry(p_task_id);
    return coalesce(v_scope.failed_children + v_scope.cancelled_children, 0);
  end if;
  v_ids := array(select o.id
                   from worker.outcome as o
                  where o.parent_id = p_task_id
                    and o.state <> 'completed'
                    and o.state = 'failed'
                    and o.merged_into is null
                  order by o.id
                  limit p_most
                    for update);
  if v_ids = '{}' then
    raise exception using
      errcode = 'CM008',
      message = format('no child of task %s has failed', p_task_id),
      hint = 'There is nothing to retry.';
  end if;
  v_scopes := array(select s.id from worker.scope as s where s.id = any (v_ids) order by s.id);
  foreach v_id in array v_scopes loop
    perform worker.retry(v_id);
  end loop;

  with again as (
    delete from worker.outcome as o where o.id = any (v_ids) and o.id <> all (v_scopes) returning o.id, o.attempt
  )
  select coalesce(array_agg(a.id), '{}'), array_agg(a.attempt) into v_ids, v_attempts from again as a;
  if v_ids = '{}' then
    return cardinality(v_scopes);
  end if;
  if exists (select from worker.task as t where t.id = any (v_ids) and t.dedup_key is not null) then
    select coalesce(sum(worker.hold_merged(i)), 0) into v_twins from unnest(v_ids) as i;
  end if;
  update worker.scope as s
     set open_children   = s.open_children + cardinality(v_ids) + v_twins,
         failed_children = s.failed_children - cardinality(v_ids) - v_twins
   where s.id = p_task_id
     and s.state = 'waiting'
     and s.cancel_reason is null
     and not s.is_joining
     and s.child_mode = 'concurrent';
  if not found then
    raise exception using
      errcode = 'CM008',
      message = format('the scope of task %s takes no retry of its children now', p_task_id),
      hint = worker.retry_hint(p_task_id);
  end if;
  insert into worker.blocked (id, reason, wait_id, queue_id, kind, tier, band, rank, place, attempt)
  select t.id, 'serial', p_task_id, t.queue_id, t.kind, 0, t.priority, 1, t.place, a.attempt
    from unnest(v_ids, v_attempts) as a (id, attempt)
    join worker.task as t on t.id = a.id;
  perform worker.unblock(worker.send_to_gates(v_ids));
  return cardinality(v_ids) + cardinality(v_scopes);
end;
$$;
