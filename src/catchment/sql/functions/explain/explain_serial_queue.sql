-- explain_serial_queue: another task has the top level of the serial queue, or comes first. See explain.
create or replace function worker.explain_serial_queue(
  p_task_id  bigint,
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
  if not exists (select from worker.queue_registry as q where q.queue_id = p_at.queue_id and q.mode = 'serial') then
    return;
  end if;
  select l.* into v_lane from worker.lane as l where l.queue_id = p_at.queue_id and l.lane = '';
  v_head := v_lane.head_id;
  if v_head = p_task_id then
    return;
  end if;
  if v_head is null then
    select h.id into v_head
      from unnest(array['s', 'p']::"char"[]) as k (kind)
     cross join lateral (select r.band, r.rank, r.place, r.id
                           from worker.ready as r
                          where r.queue_id = p_at.queue_id and r.kind = k.kind and r.tier = 1
                          order by r.band, r.rank, r.place, r.id
                          limit 1) as h
     where (h.band, h.rank, h.place, h.id) < (p_at.band, p_at.rank, p_at.place, p_task_id)
     order by h.band, h.rank, h.place, h.id
     limit 1;
  end if;
  if v_head is null then
    return;
  end if;
  select count(*) into v_ahead
    from unnest(array['s', 'p']::"char"[]) as k (kind)
   cross join lateral (select
                         from worker.ready as r
                        where r.queue_id = p_at.queue_id and r.kind = k.kind and r.tier = 1
                          and (r.band, r.rank, r.place, r.id) < (p_at.band, p_at.rank, p_at.place, p_task_id)
                          and r.id <> v_head
                        order by r.band, r.rank, r.place, r.id
                        limit c_most) as a;
  return next worker.behind(v_head, v_lane.halted_at, p_queue, '', v_ahead, p_now);
end;
$$;
