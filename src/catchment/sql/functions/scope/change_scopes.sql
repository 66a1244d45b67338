-- change_scopes: apply what this transaction did to scopes of one depth, each written once; close those without open
-- children.
--
--   waiting -> completed | failed | cancelled, or its join becomes ready
--   locks   these scope rows by id
--   returns the tasks settled by closing
--   raises  CM005 the parent accepts no more children
--   session sets worker.scope_at
create or replace function worker.change_scopes(p_changes worker.scope_change[])
  returns worker.settled[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_sibling_failed constant text := 'a sibling failed';
  c_large          constant integer := 500;
  v_ids     bigint[];
  v_rows    tid[];
  v_place   text;
  v_changed worker.scope[];
  v_serial  bigint[];
  v_missing bigint;
begin
  v_ids := array(select distinct c.scope_id from unnest(p_changes) as c order by 1);
  v_rows := array(select worker.lock_scope(i.id) from unnest(v_ids) as i (id));

  with change as (
    select r.row_id, sum(c.settled)::integer as settled, sum(c.failed)::integer as failed,
           sum(c.cancelled)::integer as cancelled, sum(c.spawned)::integer as spawned, bool_or(c.has_info) as has_info,
           bool_or(c.advances) as advances
      from unnest(p_changes) as c
      join unnest(v_ids, v_rows) as r (id, row_id) on r.id = c.scope_id
     group by r.row_id
  ),
  changed as (
    update worker.scope as s
       set open_children      = s.open_children - c.settled + c.spawned,
           total_children     = s.total_children + c.spawned,
           failed_children    = s.failed_children + c.failed,
           cancelled_children = s.cancelled_children + c.cancelled,
           has_child_info     = s.has_child_info or c.has_info,
           cancel_reason      = case
                                  when s.cancel_reason is null and s.on_child_failure = 'cancel_siblings'
                                    and c.failed > 0
                                    then c_sibling_failed
                                  else s.cancel_reason
                                end
      from change as c
     where s.ctid = c.row_id
       and s.state = 'waiting'
       and not s.is_joining
       and (c.spawned = 0 or s.cancel_reason is null)
    returning s as scope, s.ctid as row_id, c.advances, c.spawned, c.failed
  ),
  stopped as (
    insert into worker.cancel_request (task_id, reason, requested_at)
    select (c.scope).id, c_sibling_failed, worker.now()
      from changed as c
     where c.failed > 0
       and (c.scope).failed_children = c.failed
       and (c.scope).cancel_reason = c_sibling_failed
       and (c.scope).open_children > 0
  )
  select array_agg(c.scope), array_agg((c.scope).id) filter (where (c.scope).child_mode = 'serial'
                                                               and (c.scope).open_children > 0
                                                               and (c.scope).cancel_reason is null
                                                               and (c.advances
                                                                    or c.spawned > 0
                                                                       and worker.is_idle((c.scope).id, c.spawned))),
         max((c.scope).id || '/' || c.row_id) filter (where (c.scope).total_children > c_large)
    into v_changed, v_serial, v_place
    from changed as c;

  select c.scope_id into v_missing
    from unnest(p_changes) as c
   where not exists (select from unnest(v_changed) as s where s.id = c.scope_id)
   limit 1;
  if found then
    raise exception using
      errcode = 'CM005',
      message = format('the scope of task %s is closed or being cancelled, it takes no more children', v_missing),
      hint = 'Spawn from the handler of the task or of one of its running children.';
  end if;

  if v_place is not null then
    perform set_config('worker.scope_at', v_place, false);
  end if;
  perform worker.next_serial(v_serial);
  return worker.close_scopes(array(select s from unnest(v_changed) as s where s.open_children = 0));
end;
$$;
