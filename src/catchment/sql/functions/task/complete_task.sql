-- complete_task: complete a held task; if it has open children, it waits for them. p_spawns is an array of {"command",
-- "payload", "priority", "is_sibling", "scheduled_at", "trace"}, p_follow_ups one of {"command", "payload", "priority",
-- "lane", "scheduled_at", "trace"}: both exist from this transition on and not before.
--
--   processing -> completed | waiting
--   locks   see settle
--   raises  CM001 the claim was lost
--   session reads worker.late
create or replace function worker.complete_task(
  p_task_id           bigint,
  p_fence             bigint,
  p_info              jsonb default null,
  p_result            jsonb default null,
  p_spawns            jsonb default null,
  p_child_mode        text default null,
  p_on_child_failure  text default null,
  p_follow_ups        jsonb default null
)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_state text;
begin
  if p_spawns is not null or p_follow_ups is not null then
    if not exists (select from worker.running as r where r.id = p_task_id and r.fence = p_fence) then
      perform worker.raise_fenced(p_task_id, p_fence);
    end if;
    perform worker.make_offspring(p_task_id, p_fence, p_spawns, p_child_mode, p_on_child_failure, p_follow_ups);
  elsif nullif(current_setting('worker.late', true), '') is null
        and worker.complete_tasks(array[p_task_id], array[p_fence], array[p_info], array[p_result]) <> '{}' then
    return 'completed';
  end if;
  select s.state into v_state
    from worker.settle(array[p_task_id], array[p_fence], array['completed'], null, array[p_info], array[p_result]) as s;
  if not found then
    perform worker.raise_fenced(p_task_id, p_fence);
  end if;
  return v_state;
end;
$$;
