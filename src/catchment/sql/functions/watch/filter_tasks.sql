-- filter_tasks: those of the given tasks that match, in the order given. p_error is a part of the error's message, in
-- small or capital letters.
--
--   plan    walk_sorted
create or replace function worker.filter_tasks(
  p_ids          bigint[],
  p_command      text,
  p_queue        text,
  p_lane         text,
  p_error        text,
  p_made_after   timestamptz,
  p_made_before  timestamptz,
  p_is_top       boolean
)
  returns setof bigint
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select t.id
    from unnest(p_ids) with ordinality as x (id, place)
    join worker.task as t on t.id = x.id
   where (p_command is null or t.command = p_command)
     and (p_queue is null or t.queue_id = (select q.queue_id from worker.queue_registry as q where q.queue = p_queue))
     and (p_lane is null or t.lane = p_lane)
     and (p_made_after is null or t.created_at >= p_made_after)
     and (p_made_before is null or t.created_at < p_made_before)
     and (not p_is_top or t.parent_id is null)
     and (p_error is null or exists (select
                                       from worker.outcome as o
                                      where o.id = t.id
                                        and position(lower(p_error) in lower(o.error ->> 'message')) > 0))
   order by x.place;
end;
$$;
