-- explain_follow_up: the task starts when its root has completed, and not before its own time. See explain.
create or replace function worker.explain_follow_up(
  p_at            worker.whereabouts,
  p_scheduled_at  timestamptz,
  p_now           timestamptz
)
  returns setof worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select 'follow_up', true, jsonb_build_object('task', s.standing),
         format('It starts when its root has completed: %s, %s.', worker.said_task(s.standing),
                worker.said_state(s.standing, p_now)),
         'catchment task why ' || p_at.wait_id
    from (select worker.standing(p_at.wait_id) as standing) as s
   where p_at.reason = 'follow_up'
  union all
  select 'scheduled', true, jsonb_build_object('due_at', p_scheduled_at),
         format('It is scheduled for %s.', worker.said_when(p_scheduled_at, p_now)), null
   where p_at.reason = 'follow_up'
     and p_scheduled_at > p_now;
$$;
