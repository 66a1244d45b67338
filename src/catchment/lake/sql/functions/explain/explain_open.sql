-- explain_open: a refresh of the table is open: it runs, it waits in its queue, or in its round for a table above. See
-- explain.
create or replace function lake.explain_open(
  p_refresh  lake.refresh,
  p_now      timestamptz
)
  returns setof worker.condition
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_evidence jsonb := jsonb_build_object('refresh_id', (p_refresh).id, 'round_id', (p_refresh).round_id);
  v_standing jsonb;
begin
  if (p_refresh).task_id is null then
    return query select c.* from lake.explain_round(p_refresh, v_evidence, p_now) as c;
    return;
  end if;
  v_standing := worker.standing((p_refresh).task_id);
  v_evidence := jsonb_strip_nulls(v_evidence || jsonb_build_object('task', v_standing));
  if (p_refresh).started_at is null then
    return next ('queued', false, v_evidence || jsonb_build_object('since', (p_refresh).queued_at),
                 format('Its refresh has been waiting in queue lake since %s, as task %s of round %s.',
                        worker.said_when((p_refresh).queued_at, p_now), (p_refresh).task_id, (p_refresh).round_id),
                 'catchment task why ' || (p_refresh).task_id)::worker.condition;
  else
    return query
      select 'running', false,
             v_evidence || jsonb_strip_nulls(jsonb_build_object(
               'since', (p_refresh).started_at, 'deadline_at', (p_refresh).deadline_at,
               'done', s.total_children - s.open_children, 'total', s.total_children)),
             format('Its refresh has been running since %s, as task %s of round %s%s.',
                    worker.said_when((p_refresh).started_at, p_now), (p_refresh).task_id, (p_refresh).round_id,
                    case when s.total_children > 0
                         then format('; %s of %s buckets are done', s.total_children - s.open_children,
                                     s.total_children) else '' end),
             'catchment task why ' || (p_refresh).task_id
        from (select) as one
        left join worker.scope as s on s.id = (p_refresh).task_id and (p_refresh).plan is not null;
  end if;
  return query select c.* from lake.explain_task(p_refresh, v_standing, v_evidence, p_now) as c;
end;
$$;
