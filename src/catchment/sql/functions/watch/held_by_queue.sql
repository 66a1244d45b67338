-- held_by_queue: what a task that stands in no other line waits for in its queue: lane, if another task has the top
-- level of the serial queue or comes first, limit, if the queue starts no more tasks now, or null. explain says the
-- same, with evidence.
create or replace function worker.held_by_queue(p_task_id bigint)
  returns text
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_at    worker.whereabouts := worker.whereabouts_of(p_task_id);
  v_queue worker.queue_registry;
  v_head  bigint;
  v_room  integer;
begin
  select q.* into v_queue from worker.queue_registry as q where q.queue_id = v_at.queue_id;
  if v_queue.mode = 'serial' and v_at.tier = 1 and v_at.phase = 0 then
    select l.head_id into v_head from worker.lane as l where l.queue_id = v_queue.queue_id and l.lane = '';
    if v_head <> p_task_id
       or v_head is null
          and exists (select
                        from unnest(array['s', 'p']::"char"[]) as k (kind)
                       cross join lateral (select r.band, r.rank, r.place, r.id
                                             from worker.ready as r
                                            where r.queue_id = v_queue.queue_id and r.kind = k.kind and r.tier = 1
                                            order by r.band, r.rank, r.place, r.id
                                            limit 1) as h
                       where (h.band, h.rank, h.place, h.id) < (v_at.band, v_at.rank, v_at.place, p_task_id)) then
      return 'lane';
    end if;
  end if;
  v_room := worker.queue_allowance(v_queue);
  if v_room = 0 or v_room <= worker.ready_before(p_task_id, v_at) then
    return 'limit';
  end if;
  return null;
end;
$$;
