-- complete_plain: complete plain attempts that made no children nor follow-ups, and advance their scopes and lanes. The
-- others are left alone. Of the tasks that are next in the lanes, up to p_most are left to the caller, see
-- next_in_lane.
--
--   processing -> completed
--   locks   running rows by place; then scope rows deepest first, then id; then see follow_through
--   returns the tasks completed, and the heads of lanes that are left to the caller
--   plan    walk_sorted
create or replace function worker.complete_plain(
  p_ids      bigint[],
  p_fences   bigint[],
  p_infos    jsonb[],
  p_results  jsonb[],
  p_most     integer,
  out p_done   bigint[],
  out p_heads  bigint[]
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_children bigint[];
  v_heads    bigint[];
begin
  select f.p_done, f.p_children, f.p_heads into p_done, v_children, v_heads
    from worker.finish_plain(p_ids, p_fences, p_infos, p_results) as f;
  if v_children <> '{}' then
    perform worker.follow_through(null, worker.count_completed(v_children));
  end if;
  if v_heads <> '{}' then
    p_heads := worker.advance_lanes(array(
      select (t.id, t.command, t.queue_id, coalesce(t.lane, ''), false)::worker.lane_head
        from unnest(v_heads) as h (id)
       cross join lateral (select t.id, t.command, t.queue_id, t.lane
                             from worker.task as t
                            where t.id = h.id
                            limit 1) as t), p_most);
  end if;
end;
$$;
