-- explain_line: what an unstarted task stands in line for: its time, its root, its siblings, its lane, its limit, the
-- top level of its serial queue. For a task that is not due, this includes what it would stand in line for then. See
-- explain.
create or replace function worker.explain_line(
  p_task_id       bigint,
  p_parent_id     bigint,
  p_queue         text,
  p_lane          text,
  p_gate          text,
  p_command       text,
  p_scheduled_at  timestamptz,
  p_max_attempts  integer,
  p_at            worker.whereabouts,
  p_now           timestamptz
)
  returns setof worker.condition
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if p_at.at = 'blocked' then
    return query select c.* from worker.explain_time(p_task_id, p_max_attempts, p_at, p_now) as c;
    return query select c.* from worker.explain_trouble(p_task_id, p_lane, p_gate, p_at, p_now) as c;
    -- A task that has started keeps its turn, its lane and its place at a gate.
    if p_at.reason not in ('retry', 'snooze') then
      return query select c.* from worker.explain_follow_up(p_at, p_scheduled_at, p_now) as c;
      if p_parent_id is not null then
        return query select c.* from worker.explain_siblings(p_task_id, p_parent_id, p_at, p_now) as c;
      end if;
      if p_lane is not null then
        return query select c.* from worker.explain_lane(p_task_id, p_lane, p_queue, p_at, p_now) as c;
      end if;
      if p_gate is not null then
        return query select c.* from worker.explain_limit(p_task_id, p_gate, p_command, p_at, p_now) as c;
      end if;
    end if;
  end if;
  if p_at.tier = 1 and p_at.phase = 0 then
    return query select c.* from worker.explain_serial_queue(p_task_id, p_queue, p_at, p_now) as c;
  end if;
end;
$$;
