-- complete_tasks: complete many held tasks: the fast way for tasks that affect only scopes and lanes (is_plain in
-- worker.claimed) and that made no children nor follow-ups. The others are left alone: complete_task and settle take
-- those.
--
--   processing -> completed
--   locks   see complete_plain
--   returns the tasks completed; of the others nothing has changed
create or replace function worker.complete_tasks(
  p_ids      bigint[],
  p_fences   bigint[],
  p_infos    jsonb[] default null,
  p_results  jsonb[] default null
)
  returns bigint[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (select c.p_done from worker.complete_plain(p_ids, p_fences, p_infos, p_results, 0) as c);
end;
$$;
