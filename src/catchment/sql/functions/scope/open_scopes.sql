-- open_scopes: open the scopes of tasks whose handlers spawned children and have returned. The children were inserted
-- by the handler's own transaction, so they become runnable with this transition and not before.
--
--   processing -> waiting
--   locks   ancestors, shared, deepest first: a cancelled subtree takes no new scope
--   raises  CM011 the task is being cancelled
create or replace function worker.open_scopes(p_ended worker.ended[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_serial bigint[];
  v_run    worker.run;
begin
  for v_run in
    select (e.run).* from unnest(p_ended) as e where e.fate = 'waiting' order by (e.run).depth desc, (e.run).id
  loop
    if v_run.cancel_reason is not null then
      raise exception using
        errcode = 'CM011', message = format('task %s is being cancelled: %s', v_run.id, v_run.cancel_reason);
    end if;
    if v_run.parent_id is not null then
      perform worker.refuse_if_cancelled(v_run.parent_id);
    end if;
  end loop;

  with opened as (
    insert into worker.scope (id, open_children, total_children, child_mode, on_child_failure, command, queue_id, kind,
                              band, place, parent_id, depth, lane, attempt, has_after, has_merged, worker_pid,
                              started_at, stopped_at, info, result)
    select (e.run).id, n.children, n.children, (e.run).child_mode, coalesce((e.run).on_child_failure, 'wait'),
           (e.run).command, (e.run).queue_id, (e.run).kind, (e.run).band, (e.run).place, (e.run).parent_id,
           (e.run).depth, (e.run).lane, (e.run).attempt, (e.run).has_after, (e.run).has_merged, (e.run).worker_pid,
           (e.run).started_at, worker.now(), e.info, e.result
      from unnest(p_ended) as e
     cross join lateral (select count(*) as children from worker.task as c where c.parent_id = (e.run).id) as n
     where e.fate = 'waiting'
    returning id, child_mode
  )
  select array_agg(o.id) filter (where o.child_mode = 'serial') into v_serial from opened as o;

  perform worker.next_serial(v_serial);
end;
$$;
