-- make_offspring: make the children, siblings and follow-ups that a worker recorded for its task, with the task's
-- transition. Children are inserted as a set, in their order; if there are siblings, or commands with dedup or a limit,
-- one by one. The caller has checked the fence.
--
--   locks   see spawn_child and follow_up
--   raises  what these raise
create or replace function worker.make_offspring(
  p_task_id           bigint,
  p_fence             bigint,
  p_spawns            jsonb,
  p_child_mode        text,
  p_on_child_failure  text,
  p_follow_ups        jsonb
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_task worker.task;
begin
  select t.* into v_task from worker.task as t where t.id = p_task_id;

  if jsonb_array_length(p_spawns) > 0 then
    if p_spawns @? '$[*] ? (@.is_sibling == true)'
       or exists (select from worker.command_registry as c
                   where (c.dedup is not null or c.limit_key is not null)
                     and c.command in (select s ->> 'command' from jsonb_array_elements(p_spawns) as s)) then
      perform worker.note_offspring(p_fence, null, null);
      perform worker.spawn_child(s.command, s.payload, case when s.is_sibling then v_task.parent_id else p_task_id end,
                                 s.priority, case when s.is_sibling then null else p_child_mode end,
                                 case when s.is_sibling then null else p_on_child_failure end, s.scheduled_at, s.trace)
         from rows from (jsonb_to_recordset(p_spawns)
                         as (command text, payload jsonb, priority integer, is_sibling boolean,
                             scheduled_at timestamptz, trace text))
              with ordinality as s (command, payload, priority, is_sibling, scheduled_at, trace, n)
        order by s.n;
    else
      perform worker.insert_children(v_task, p_spawns, p_child_mode, p_on_child_failure);
    end if;
  else
    perform worker.note_offspring(p_fence, null, null);
  end if;

  perform worker.insert_follow_up(p_task_id, f.command, f.payload, f.priority, f.lane, f.scheduled_at, f.trace)
     from rows from (jsonb_to_recordset(coalesce(p_follow_ups, '[]'))
                     as (command text, payload jsonb, priority integer, lane text, scheduled_at timestamptz,
                         trace text))
          with ordinality as f (command, payload, priority, lane, scheduled_at, trace, n)
    order by f.n;
end;
$$;
