-- skip_halted: resume a halted lane after the task that failed, and note that with the task. The empty lane is the
-- top level of a serial queue.
--
--   locks   the lane row, then ready rows
--   returns the task that failed
--   raises  CM003 no such queue is registered; CM027 the lane is not halted
--   plan    walk
create or replace function worker.skip_halted(
  p_queue  text,
  p_lane   text default ''
)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_lane worker.lane;
begin
  update worker.lane as l
     set halted_at = null
    from worker.queue_registry as q
   where q.queue = p_queue
     and l.queue_id = q.queue_id
     and l.lane = p_lane
     and l.halted_at is not null
  returning l.* into v_lane;
  if not found and not exists (select from worker.queue_registry as q where q.queue = p_queue) then
    perform worker.raise_unknown_queue(p_queue, coalesce(
      -- the name of a lane in place of its queue
      (select format('Lane %s of queue %s is halted: %s', l.lane, q.queue,
                     worker.shell_command('catchment lane skip', q.queue, l.lane))
         from worker.lane as l
         join worker.queue_registry as q on q.queue_id = l.queue_id
        where l.halted_at is not null and l.lane = p_queue and p_lane = ''
        limit 1),
      'The queue comes first, then its lane: catchment lane skip QUEUE LANE. "catchment lane list" shows both.'));
  elsif not found then
    raise exception using
      errcode = 'CM027',
      message = case p_lane when '' then format('queue %L is not halted', p_queue)
                            else format('lane %L of queue %L is not halted', p_lane, p_queue) end,
      hint = '"catchment lane list" shows those that are.';
  end if;
  insert into worker.warning (task_id, at, source, message)
  values (v_lane.head_id, worker.now(), 'lane',
          format('%s continued without it, as %s asked',
                 case p_lane when '' then 'the serial queue ' || p_queue else 'its lane ' || p_lane end, session_user));
  perform worker.advance_lanes(array[(v_lane.head_id, null, v_lane.queue_id, v_lane.lane, false)::worker.lane_head]);
  return v_lane.head_id;
end;
$$;
