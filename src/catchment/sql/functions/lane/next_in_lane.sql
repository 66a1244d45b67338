-- next_in_lane: each of these lanes gets the first admitted task behind its old head, or ends. Up to p_most of the new
-- heads are left to the caller, which starts them at once, if a claim for Python handlers would take them as they are:
-- not in paused, limited and serial queues, nor where commands are deduplicated. The others become ready.
--
--   locks   nothing new: the caller holds the lane rows; then blocked and ready rows
--   returns the heads that are left to the caller; they are still blocked
create or replace function worker.next_in_lane(
  p_lanes  worker.held_lane[],
  p_most   integer default 0
)
  returns bigint[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_free   integer[] := '{}'; -- queues whose tasks may start at once
  v_rows   tid[];
  v_heads  bigint[];
  v_places bigint[];
  v_empty  tid[];
  v_able   bigint[];
  v_others bigint[];
begin
  if p_most > 0 then
    v_free := array(
      select q.queue_id
        from worker.queue_registry as q
       where q.queue_id in (select l.queue_id from unnest(p_lanes) as l)
         and q.mode = 'concurrent' and q.paused_at is null and q.max_running is null and q.rate is null
         and not exists (select from worker.command_registry as c where c.queue = q.queue and c.dedup is not null));
  end if;
  select array_agg(l.row_id) filter (where n.id is not null), array_agg(n.id) filter (where n.id is not null),
         array_agg(n.place) filter (where n.id is not null), array_agg(l.row_id) filter (where n.id is null),
         array_agg(n.id) filter (where n.is_python and l.queue_id = any (v_free)),
         array_agg(n.id) filter (where n.id is not null and (not n.is_python or l.queue_id <> all (v_free)))
    into v_rows, v_heads, v_places, v_empty, v_able, v_others
    from unnest(p_lanes) as l
    left join lateral (
      select b.id, b.place, b.kind = 'p' and b.phase = 0 and b.tier = 1 as is_python
        from worker.blocked as b
       where b.reason = 'lane'
         and b.queue_id = l.queue_id
         and b.lane = l.lane
         and b.place between l.first_place and l.last_place
       order by b.place, b.id
       limit 1
    ) as n on true;
  if v_empty is not null then
    delete from worker.lane as l where l.ctid = any (v_empty);
  end if;
  if v_rows is not null then
    perform worker.write_lanes(v_rows, v_heads, v_places, null);
    perform worker.unblock(v_others || v_able[p_most + 1:]);
  end if;
  return v_able[:p_most];
end;
$$;
