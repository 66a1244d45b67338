-- explain_merged: the task was folded into another one, and settles with it. See explain.
create or replace function worker.explain_merged(
  p_survivor_id  bigint,
  p_now          timestamptz
)
  returns setof worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select 'merged', true, jsonb_build_object('task', s.standing),
         format('It was merged into %s, %s, and settles with it.', worker.said_task(s.standing),
                worker.said_state(s.standing, p_now)),
         'catchment task why ' || p_survivor_id
    from (select worker.standing(p_survivor_id) as standing) as s;
$$;
