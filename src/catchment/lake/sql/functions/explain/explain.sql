-- explain: why a dynamic table is late: the age of its data first, then every cause (is_blocking), and further facts.
-- If nothing is blocking, the table is within its lag, or a refresh runs or is scheduled. Takes no lock. Its parts are
-- PL/pgSQL also where one statement is enough: a session then plans them once, while functions of SQL are planned at
-- each call.
--
--   returns nothing if there is no such table
create or replace function lake.explain(p_dt_id bigint)
  returns setof worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select c.*
    from lake.effective_lag as e
   cross join lateral lake.explain_table(e.dt_id, e.lag, e.chain_ms, worker.now()) as c
   where e.dt_id = p_dt_id
$$;
