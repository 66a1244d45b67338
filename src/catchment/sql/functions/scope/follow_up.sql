-- follow_up: a top-level task that starts when the root of the current tree has completed, in that root's place: with its
-- priority (aged as it was) and arrival on the same queue, unless it asks for a priority of its own. It is cancelled if the root
-- does not complete. Without a p_trace of its own, it continues the trace of the root.
--
--   raises  CM005 outside a handler
create or replace function worker.follow_up(
  p_command       text,
  p_payload       jsonb default '{}',
  p_priority      integer default null,
  p_lane          text default null,
  p_scheduled_at  timestamptz default null,
  p_trace         text default null
)
  returns bigint
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set enable_sort = off
as $$
declare
  v_task_id bigint := worker.current_task_id();
  v_root    worker.task;
  v_same    boolean;
  v_band    integer;
  v_id      bigint;
begin
  select r.* into v_root
    from worker.task as t
    join worker.task as r on r.id = coalesce(t.root_id, t.id)
    join worker.running as n on n.id = t.id
   where t.id = v_task_id
     and worker.holds_task(n.id, n.fence);
  if not found then
    raise exception using
      errcode = 'CM005',
      message = format('%s follows nothing: no handler is running here', p_command),
      hint = 'Use worker.enqueue for an independent task.';
  end if;
  if v_root.id = v_task_id then
    perform worker.note_offspring(v_task_id, '{"has_follow_up": true}');
  end if;

  select q.queue_id = v_root.queue_id into v_same
    from worker.command_registry as c
    join worker.queue_registry as q on q.queue = c.queue
   where c.command = p_command;
  v_id := worker.insert_task(p_command, p_payload, coalesce(p_priority, case when v_same then v_root.priority end),
                             coalesce(p_lane, case when v_same then v_root.lane end), p_scheduled_at,
                             p_follows_id => v_root.id, p_place => v_root.place,
                             p_trace => coalesce(p_trace, v_root.trace));
  if p_priority is null and v_same then
    select coalesce(r.band, s.band) into v_band
      from (select v_root.id as id) as i
      left join worker.running as r on r.id = i.id
      left join worker.scope as s on s.id = i.id;
    update worker.blocked as b set band = v_band where b.id = v_id and b.band > v_band;
  end if;
  return v_id;
end;
$$;
