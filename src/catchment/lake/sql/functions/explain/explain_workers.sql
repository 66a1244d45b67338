-- explain_workers: no live worker opens rounds, or none refreshes tables. See explain.
create or replace function lake.explain_workers(p_now timestamptz)
  returns setof worker.condition
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select 'no_worker', true, jsonb_build_object('queue', q.queue),
           format('No live worker serves queue %s, %s.', q.queue, q.use), 'catchment table worker'
      from (values ('lake_schedule', 'which opens rounds', worker.serving('lake_schedule', 'lake_tick', 's', p_now)),
                   ('lake', 'which refreshes tables', worker.serving('lake', 'lake_refresh', 'p', p_now)))
             as q (queue, use, is_served)
     where not q.is_served;
end;
$$;
