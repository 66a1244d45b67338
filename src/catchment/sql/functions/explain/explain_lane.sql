-- explain_lane: the task stands behind others in its named lane, or the lane is halted. One that is not due, or follows
-- a root, would stand at the end. A lane that no claim has opened yet starts with its first task. See explain.
create or replace function worker.explain_lane(
  p_task_id  bigint,
  p_lane     text,
  p_queue    text,
  p_at       worker.whereabouts,
  p_now      timestamptz
)
  returns setof worker.condition
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant integer := 1000;
  v_lane  worker.lane;
  v_head  bigint;
  v_ahead bigint;
begin
  select l.* into v_lane from worker.lane as l where l.queue_id = p_at.queue_id and l.lane = p_lane;
  v_head := v_lane.head_id;
  if v_head is null then
    select b.id into v_head
      from worker.blocked as b
     where b.reason = 'lane' and b.queue_id = p_at.queue_id and b.lane = p_lane
     order by b.place, b.id
     limit 1;
  end if;
  if v_head is null or v_head in (p_task_id, p_at.wait_id) then
    return;
  end if;
  select count(*) into v_ahead
    from (select
            from worker.blocked as b
           where b.reason = 'lane' and b.queue_id = p_at.queue_id and b.lane = p_lane
             and b.place <= case p_at.reason when 'lane' then p_at.place else 9223372036854775807 end
             and b.id not in (p_task_id, v_head)
           order by b.place, b.id
           limit c_most) as a;
  return next worker.behind(v_head, v_lane.halted_at, p_queue, p_lane, v_ahead, p_now);
end;
$$;
