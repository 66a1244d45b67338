-- complete_tasks: complete many held tasks: the fast way for tasks that affect only scopes and lanes (is_plain in
-- worker.claimed) and that made no children nor follow-ups. The others are left alone: complete_task and settle take
-- those.
--
--   processing -> completed
--   locks   running rows by place; then scope rows deepest first, then id; then see follow_through
--   returns the tasks completed; of the others nothing has changed
--   plan    walk_sorted
create or replace function worker.complete_tasks(
  p_ids      bigint[],
  p_fences   bigint[],
  p_infos    jsonb[] default null,
  p_results  jsonb[] default null
)
  returns bigint[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_done     bigint[];
  v_children bigint[];
  v_heads    bigint[];
begin
  select f.p_done, f.p_children, f.p_heads into v_done, v_children, v_heads
    from worker.finish_plain(p_ids, p_fences, p_infos, p_results) as f;
  if v_children <> '{}' then
    perform worker.follow_through(null, worker.count_completed(v_children));
  end if;
  if v_heads <> '{}' then
    perform worker.advance_lanes(array(
      select (t.id, t.command, t.queue_id, coalesce(t.lane, ''), false)::worker.lane_head
        from unnest(v_heads) as h (id)
       cross join lateral (select t.id, t.command, t.queue_id, t.lane
                             from worker.task as t
                            where t.id = h.id
                            limit 1) as t));
  end if;
  return v_done;
end;
$$;
