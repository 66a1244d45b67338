-- slots_taken: how many slots of each worker process are taken now, of max_capacity. One with Python commands has slots
-- for these; its SQL handlers have sessions besides. At most p_most attempts are looked at.
create or replace function worker.slots_taken(p_most integer default 100000)
  returns table (worker_id bigint, taken bigint)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select w.worker_id, count(r.worker_id)
    from worker.worker as w
    left join (select x.worker_id, x.backend_key is null as is_python from worker.running as x limit p_most) as r
      on r.worker_id = w.worker_id
     and r.is_python = coalesce(cardinality(w.python_commands) > 0, w.python_queues <> '{}')
   group by w.worker_id;
$$;
