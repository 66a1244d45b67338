-- The lag of tables over a period.
select t.dynamic_table as name, t.target_lag, t.effective_lag, t.lag, s.mean_lag, s.max_lag, s.within_target,
       s.looked_at, s.refreshes, t.last_state
  from lake.tables as t
 cross join lateral lake.lag_stats(t.id, worker.now() - %(since)s::interval) as s
 where %(id)s::bigint is null
    or t.id = %(id)s::bigint
 order by t.schema_name, t.name
