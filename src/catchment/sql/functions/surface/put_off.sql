-- put_off: a ready task becomes a scheduled one; the next of its lane or of its serial scope takes its turn.
--
--   locks   its ready row, then those of the next; the caller holds the scope row or the lane row
create or replace function worker.put_off(
  p_task    worker.task,
  p_due_at  timestamptz
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  with gone as (
    delete from worker.ready as r where r.id = p_task.id returning r.*
  )
  insert into worker.blocked (id, reason, due_at, queue_id, kind, tier, band, rank, place, lane)
  select g.id, 'scheduled', p_due_at, g.queue_id, g.kind, g.tier, g.band, g.rank, g.place, p_task.lane from gone as g;

  if p_task.parent_id is null then
    -- As after a cancelled head: the lane goes on.
    perform worker.advance_lanes(array[(p_task.id, 'cancelled', p_task.command, null, 0, p_task.queue_id,
                                        coalesce(p_task.lane, ''), p_task.place, true, false, false, false,
                                        false)::worker.settled]);
  else
    perform worker.next_serial(array(select s.id from worker.scope as s
                                      where s.id = p_task.parent_id and s.child_mode = 'serial'));
  end if;
end;
$$;
