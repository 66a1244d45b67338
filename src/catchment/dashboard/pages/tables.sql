-- tables: dynamic tables with how they stand, by name; or one of them. The newest refreshes of each are found by index.
-- is_tried: a refresh has begun since the last one ended.
select d.id, d.schema_name || '.' || d.name as name, format('%%I.%%I', d.schema_name, d.name) as typed, d.state,
       d.suspended_by, d.suspended_at, d.scheduler, d.strategy,
       extract(epoch from d.target_lag)::float8 as own_target_seconds,
       extract(epoch from e.lag)::float8 as target_seconds, e.chain_ms, d.expected_ms, f.data_at, f.rows,
       case when f.data_at is not null
            then extract(epoch from greatest(worker.now() - f.data_at, interval '0'))::float8 end as lag_seconds,
       l.state as last_state, l.action as last_action, l.finished_at as last_at, l.error_code,
       left(l.error_text, 500) as error, o.id as open_id, o.task_id as open_task_id,
       coalesce(o.started_at, o.created_at) as open_since, o.started_at is not null as is_tried
  from lake.dt as d
  join lake.frontier as f on f.dt_id = d.id
  join lake.effective_lag as e on e.dt_id = d.id
  left join lateral (select r.*
                       from lake.refresh as r
                      where r.dt_id = d.id and r.finished_at is not null and r.state <> 'SKIPPED'
                      order by r.id desc
                      limit 1) as l on true
  left join lateral (select r.*
                       from lake.refresh as r
                      where r.dt_id = d.id and r.finished_at is null
                      order by r.id
                      limit 1) as o on true
 where d.state <> 'creating'
   and d.replaces is null
   and (%(id)s::bigint is null or d.id = %(id)s::bigint)
 order by d.schema_name, d.name
 limit %(most)s
