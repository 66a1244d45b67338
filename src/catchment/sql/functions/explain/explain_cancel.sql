-- explain_cancel: the cancellation of this task or of one above it was requested. A task that has not started settles
-- at the next sweep, one that runs or waits settles when it ends. See explain.
create or replace function worker.explain_cancel(
  p_task_id    bigint,
  p_parent_id  bigint,
  p_at         worker.whereabouts,
  p_now        timestamptz
)
  returns setof worker.condition
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_asked  bigint;
  v_reason text;
  v_since  timestamptz;
  v_starts boolean := p_at.at in ('ready', 'blocked') and coalesce(p_at.reason <> 'merged', true);
begin
  if p_at.phase = 1 or p_at.at = 'running' then
    select p_task_id, coalesce(r.cancel_reason, s.cancel_reason) into v_asked, v_reason
      from (select) as o
      left join worker.running as r on r.id = p_task_id
      left join worker.scope as s on s.id = p_task_id;
  end if;
  if v_reason is null and p_parent_id is not null then
    select s.id, s.cancel_reason into v_asked, v_reason
      from worker.scope as s
     where s.id = p_parent_id and s.cancel_reason is not null;
  end if;
  -- Requests that are still to be carried out: all scopes below one are marked when it has been.
  if exists (select from worker.cancel_request) then
    with recursive up as (
      select p_task_id as id, p_parent_id as parent_id
      union all
      select t.id, t.parent_id from up as u join worker.task as t on t.id = u.parent_id
    )
    select c.task_id, coalesce(v_reason, c.reason), c.requested_at into v_asked, v_reason, v_since
      from worker.cancel_request as c
     where c.task_id in (select u.id from up as u)
     order by c.requested_at
     limit 1;
  end if;
  if v_reason is null then
    return;
  end if;
  return next (
    'cancel', v_starts,
    jsonb_strip_nulls(jsonb_build_object('task_id', v_asked, 'reason', v_reason, 'since', v_since)),
    format('%s was requested%s (%s); it settles %s.',
           case when v_asked = p_task_id then 'Its cancellation'
                else 'Cancellation of task ' || v_asked || ' above it' end,
           coalesce(' at ' || worker.said_when(v_since, p_now), ''), left(v_reason, 200),
           case when v_starts then 'at the next upkeep' when p_at.at = 'running' then 'when its handler ends'
                else 'when its children have settled' end),
    null)::worker.condition;
end;
$$;
