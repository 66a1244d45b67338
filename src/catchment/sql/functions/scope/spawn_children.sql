-- spawn_children: make some of the children and siblings that a worker recorded for its task, if there are too many for
-- one complete_task. Call it before that, in the same transaction; the scope opens with the transition.
--
--   locks   see make_offspring
--   raises  CM001 the claim was lost
create or replace function worker.spawn_children(
  p_task_id           bigint,
  p_fence             bigint,
  p_spawns            jsonb,
  p_child_mode        text default null,
  p_on_child_failure  text default null
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from worker.running as r where r.id = p_task_id and r.fence = p_fence) then
    perform worker.raise_fenced(p_task_id, p_fence);
  end if;
  perform worker.make_offspring(p_task_id, p_fence, p_spawns, p_child_mode, p_on_child_failure, null);
end;
$$;
