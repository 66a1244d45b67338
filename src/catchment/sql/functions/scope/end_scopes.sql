-- end_scopes: settle waiting tasks with the merged info of their children: numbers of the same name add up, of other
-- values the youngest child's counts, and what the parent said itself wins.
--
--   waiting -> completed | failed | cancelled
--   locks   these scope rows
create or replace function worker.end_scopes(
  p_ids      bigint[],
  p_states   text[],
  p_errors   jsonb[],
  p_infos    jsonb[] default null,
  p_results  jsonb[] default null
)
  returns worker.settled[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now     timestamptz := worker.now();
  v_settled worker.settled[];
begin
  if p_ids is null then
    return null;
  end if;
  with ended as (
    update worker.scope as s
       set state      = u.state,
           is_joining = false
      from unnest(p_ids, p_states) as u (id, state)
     where s.id = u.id
       and s.state = 'waiting'
    returning s.*
  )
  select array_agg(worker.settled_task(
           p_id => e.id, p_state => e.state, p_command => e.command, p_parent_id => e.parent_id, p_depth => e.depth,
           p_queue_id => e.queue_id, p_lane => e.lane, p_place => e.place, p_has_info => e.has_child_info
             or e.info is not null,
           p_has_after => e.has_after, p_has_merged => e.has_merged, p_has_follow_up => e.parent_id is null))
    into v_settled
    from ended as e;

  insert into worker.outcome (id, state, attempt, worker_pid, started_at, stopped_at, completed_at, error, info, result,
                              parent_id)
  select s.id, s.state, s.attempt, s.worker_pid, s.started_at, s.stopped_at, v_now, u.error,
         case when s.has_child_info then coalesce(worker.children_info(s.id), '{}') || coalesce(s.info, '{}')
              || coalesce(u.info, '{}')
              when s.info is null then u.info
              else s.info || coalesce(u.info, '{}')
         end,
         coalesce(u.result, s.result), case when s.state <> 'completed' then s.parent_id end
    from unnest(p_ids, p_errors, p_infos, p_results) as u (id, error, info, result)
    join worker.scope as s on s.id = u.id
    join unnest(v_settled) as v on v.id = u.id;
  return v_settled;
end;
$$;
