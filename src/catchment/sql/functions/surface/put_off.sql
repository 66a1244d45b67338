-- put_off: turn a ready task into a scheduled one, or move it to another gate; the next task of its lane, serial scope
-- and gate takes its turn. A start that the rate had allowed is returned.
--
--   locks   its ready or blocked row, then those of the next; its gate row if it is free; the caller holds the scope
--           row or the lane row
create or replace function worker.put_off(
  p_task    worker.task,
  p_due_at  timestamptz,
  p_gate    text
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  with unready as (
    delete from worker.ready as r where r.id = p_task.id
    returning r.id, r.queue_id, r.kind, r.tier, r.band, r.rank, r.place
  ),
  unblocked as (
    delete from worker.blocked as b where b.id = p_task.id
    returning b.id, b.queue_id, b.kind, b.tier, b.band, b.rank, b.place
  )
  insert into worker.blocked (id, reason, due_at, queue_id, kind, tier, band, rank, place, lane)
  select g.id, case when p_due_at is null then 'limit' else 'scheduled' end, p_due_at, g.queue_id, g.kind, g.tier,
         g.band, g.rank, g.place, case when p_due_at is null then p_gate else p_task.lane end
    from (select * from unready union all select * from unblocked) as g;

  if p_task.parent_id is null then
    perform worker.advance_lanes(array[(p_task.id, p_task.command, p_task.queue_id, coalesce(p_task.lane, ''),
                                        false)::worker.lane_head]);
  else
    perform worker.next_serial(array(select s.id from worker.scope as s
                                      where s.id = p_task.parent_id and s.child_mode = 'serial'));
  end if;

  if p_due_at is null then
    insert into worker.gate_arrival (gate, command) values (p_gate, p_task.command);
  end if;
  if p_task.gate is not null then
    if worker.leave_gate(p_task.gate, p_task.command, 1, 1, p_task.queue_id) then
      perform worker.open_gates(array[p_task.gate]);
    end if;
  end if;
end;
$$;
