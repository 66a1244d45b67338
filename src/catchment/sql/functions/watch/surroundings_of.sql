-- surroundings_of: what stands around a task, for people: its trace, how many children it has and how they ended, its
-- neighbours in its lane, and its follow-ups. No payload. Counts stop at p_most.
--
--   returns one row, or none if there is no such task. lane: only while the task stands in a lane or halts it
--   plan    explain
create or replace function worker.surroundings_of(
  p_task_id  bigint,
  p_most     integer default 1000
)
  returns table (trace text, children jsonb, lane jsonb, follow_ups jsonb)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_shown constant integer := 3;
  v_task      worker.task;
  v_lane      worker.lane;
  v_is_behind boolean;
  v_place     bigint;
  v_head      bigint;
  v_before    bigint[];
  v_after     bigint[];
  v_follows   bigint[];
begin
  select t.* into v_task from worker.task as t where t.id = p_task_id;
  if not found then
    return;
  end if;
  trace := v_task.trace;

  select jsonb_build_object('total', s.total_children, 'open', s.open_children, 'failed', s.failed_children,
                            'cancelled', s.cancelled_children, 'child_mode', s.child_mode, 'is_joining', s.is_joining,
                            'started_at', s.started_at, 'stopped_at', s.stopped_at)
    into children
    from worker.scope as s
   where s.id = p_task_id;

  if v_task.lane is not null then
    select l.* into v_lane from worker.lane as l where l.queue_id = v_task.queue_id and l.lane = v_task.lane;
    select b.place into v_place from worker.blocked as b where b.id = p_task_id and b.reason = 'lane';
    v_is_behind := found;
    v_head := v_lane.head_id;
    if v_head is null then
      -- Nobody has admitted the first one yet.
      select b.id into v_head
        from worker.blocked as b
       where b.reason = 'lane' and b.queue_id = v_task.queue_id and b.lane = v_task.lane
       order by b.place, b.id
       limit 1;
    end if;
    if v_is_behind or v_head = p_task_id then
      v_before := array(
        select b.id
          from worker.blocked as b
         where b.reason = 'lane' and b.queue_id = v_task.queue_id and b.lane = v_task.lane
           and v_is_behind and b.place <= v_place and b.id not in (p_task_id, v_head)
         order by b.place desc, b.id desc
         limit p_most);
      v_after := array(
        select b.id
          from worker.blocked as b
         where b.reason = 'lane' and b.queue_id = v_task.queue_id and b.lane = v_task.lane
           and b.place >= case when v_is_behind then v_place else 0 end and b.id not in (p_task_id, v_head)
         order by b.place, b.id
         limit p_most);
      lane := jsonb_build_object(
        'head', worker.standing(v_head), 'halted_at', v_lane.halted_at,
        'ahead', cardinality(v_before), 'behind', cardinality(v_after),
        'before', array(select worker.standing(v_before[i]) from generate_series(least(c_shown, cardinality(v_before)),
                                                                                 1, -1) as i),
        'after', array(select worker.standing(i) from unnest(v_after[: c_shown]) with ordinality as a (i, n)
                        order by a.n));
    end if;
  end if;

  v_follows := array(select t.id from worker.task as t where t.follows_id = p_task_id order by t.id limit p_most);
  if cardinality(v_follows) > 0 then
    follow_ups := jsonb_build_object(
      'count', cardinality(v_follows),
      'tasks', array(select worker.standing(i) from unnest(v_follows[: 10]) with ordinality as a (i, n) order by a.n));
  end if;
  return next;
end;
$$;
