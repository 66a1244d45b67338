-- tables: each dynamic table: when and how it is refreshed, the age of its data, its content, and its last refresh.
create or replace view lake.tables as
select d.id, d.schema_name, d.name, format('%s.%s', d.schema_name, d.name) as dynamic_table,
       upper(d.state) as scheduling_state, d.suspended_by,
       d.target_lag, e.lag as effective_lag, d.scheduler, d.properties ->> 'refresh_mode' as refresh_mode,
       d.strategy, d.reason as refresh_mode_reason, d.is_always_due, d.properties ->> 'comment' as comment,
       f.data_snapshot is not null as is_filled, f.data_snapshot, f.data_at as data_timestamp,
       case when f.data_at is not null then greatest(worker.now() - f.data_at, interval '0') end as lag,
       f.commit_snapshot, f.rows, s.files, s.bytes, d.buckets,
       l.id as last_refresh_id, l.state as last_state, l.action as last_action, l.reason as last_reason,
       l.finished_at as last_finished_at, l.error_code as last_error_code, l.error_text as last_error,
       o.id as open_refresh_id, o.state as open_state, d.error_streak, d.expected_ms, d.component, d.generation,
       d.definition, d.properties, d.created_at, d.updated_at
  from lake.dt as d
  join lake.frontier as f on f.dt_id = d.id
  join lake.effective_lag as e on e.dt_id = d.id
  left join lateral (select count(*) as files, coalesce(sum(x.file_size_bytes), 0)::bigint as bytes
                       from lake.ducklake_data_file as x
                      where x.table_id = d.physical_id
                        and x.end_snapshot is null) as s on true
  left join lateral (select r.*
                       from lake.refresh as r
                      where r.dt_id = d.id
                        and r.finished_at is not null
                      order by r.id desc
                      limit 1) as l on true
  left join lateral (select r.*
                       from lake.refresh as r
                      where r.dt_id = d.id
                        and r.finished_at is null
                      order by r.id
                      limit 1) as o on true
 where d.state <> 'creating'
   and d.replaces is null;
comment on view lake.tables is
  'Dynamic tables. effective_lag: the lag it has to keep, also where it is DOWNSTREAM. data_timestamp: the time whose '
  'data it holds. open_refresh_id: what is under way.';
