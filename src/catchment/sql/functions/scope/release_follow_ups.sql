-- release_follow_ups: start the follow-ups of completed roots, in creation order and in the root's place; cancel those
-- of roots that did not complete, with the reason.
--
--   locks   lane rows by key; then blocked rows of the follow-ups and ready rows
create or replace function worker.release_follow_ups(p_settled worker.settled[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now  timestamptz := worker.now();
  v_free bigint[];
begin
  perform l.lane
     from worker.lane as l
     join unnest(p_settled) as i on i.queue_id = l.queue_id and l.lane in ('', i.lane)
    order by l.queue_id, l.lane
      for update of l;

  with gone as (
    delete from worker.blocked as b
     using unnest(p_settled) as i
     where b.reason = 'follow_up'
       and b.wait_id = i.id
       and i.state <> 'completed'
    returning b.id, i.id as root_id, i.state
  ),
  called as (
    insert into worker.after_call (task_id, command)
    select t.id, t.command
      from gone as g
      join worker.task as t on t.id = g.id
      join worker.command_registry as c on c.command = t.command
     where c.after_procedure is not null
  )
  insert into worker.outcome (id, state, attempt, completed_at, error)
  select g.id, 'cancelled', 0, v_now,
         jsonb_build_object('kind', 'cancelled',
                            'message', format('it follows task %s, which is %s', g.root_id, g.state),
                            'follows', g.root_id)
    from gone as g;

  -- Due ones without a lane are ready at once.
  v_free := array(
    select b.id
      from worker.blocked as b
      join unnest(p_settled) as i on b.wait_id = i.id
      join worker.task as t on t.id = b.id
     where b.reason = 'follow_up'
       and i.state = 'completed'
       and b.lane is null
       and coalesce(t.scheduled_at <= v_now, true));
  perform worker.unblock(worker.send_to_gates(v_free));

  -- The others wait for their time, or stand first in their lane.
  with moved as (
    update worker.blocked as b
       set reason  = case when t.scheduled_at > v_now then 'scheduled' else 'lane' end,
           due_at  = case when t.scheduled_at > v_now then t.scheduled_at end,
           wait_id = null
      from unnest(p_settled) as i, worker.task as t
     where b.reason = 'follow_up'
       and b.wait_id = i.id
       and i.state = 'completed'
       and t.id = b.id
    returning b.queue_id, b.lane, b.place, b.reason, i.queue_id = b.queue_id and i.lane = b.lane as is_same_lane
  ),
  own as (
    select m.queue_id, m.lane, min(m.place) as place
      from moved as m
     where m.reason = 'lane' and m.is_same_lane
     group by m.queue_id, m.lane
     order by m.queue_id, m.lane
  ),
  announced as (
    insert into worker.arrival (queue_id, lane, first_place, last_place)
    select m.queue_id, m.lane, min(m.place), max(m.place)
      from moved as m
     where m.reason = 'lane' and not coalesce(m.is_same_lane, false)
     group by m.queue_id, m.lane
  )
  update worker.lane as l
     set first_place = least(l.first_place, o.place),
         last_place  = greatest(l.last_place, o.place)
    from own as o
   where l.queue_id = o.queue_id
     and l.lane = o.lane;
end;
$$;
