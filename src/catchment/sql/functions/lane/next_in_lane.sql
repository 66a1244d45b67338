-- next_in_lane: each of these lanes gets the first admitted task behind its old head, or ends.
--
--   locks   nothing new: the caller holds the lane rows; then blocked and ready rows
create or replace function worker.next_in_lane(p_lanes worker.held_lane[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows   tid[];
  v_heads  bigint[];
  v_places bigint[];
  v_empty  tid[];
begin
  select array_agg(l.row_id) filter (where n.id is not null), array_agg(n.id) filter (where n.id is not null),
         array_agg(n.place) filter (where n.id is not null), array_agg(l.row_id) filter (where n.id is null)
    into v_rows, v_heads, v_places, v_empty
    from unnest(p_lanes) as l
    left join lateral (
      select b.id, b.place
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
    perform worker.unblock(v_heads);
  end if;
end;
$$;
