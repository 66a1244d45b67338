-- explain_trouble: upkeep has failed at what would let the task continue, and set it aside until it is tried again. See
-- explain.
create or replace function worker.explain_trouble(
  p_task_id  bigint,
  p_lane     text,
  p_gate     text,
  p_at       worker.whereabouts,
  p_now      timestamptz
)
  returns setof worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select 'upkeep_failed', true,
         jsonb_build_object('step', x.step, 'item', x.item, 'sqlstate', x.sqlstate, 'count', x.count,
                            'since', x.first_at, 'retry_at', x.retry_at),
         format('Upkeep has failed to process it since %s (step %s, SQLSTATE %s); the next attempt is at %s.',
                worker.said_when(x.first_at, p_now), x.step, x.sqlstate, worker.said_when(x.retry_at, p_now)),
         'catchment doctor'
    from (values ('due', case when p_at.due_at is not null then p_task_id::text end),
                 ('lane', p_at.queue_id || '/' || p_lane),
                 ('gate', p_gate)) as k (step, item)
    join worker.trouble as x on x.step = k.step and x.item = k.item;
$$;
