-- refreshes: the history of refreshes, and open ones. An open refresh is shown as EXECUTING.
create or replace view lake.refreshes as
select r.id, r.round_id, d.schema_name, d.name, format('%s.%s', d.schema_name, d.name) as dynamic_table, o.trigger,
       case when r.state in ('PUBLISHING', 'PUBLISHED') then 'EXECUTING' else r.state end as state,
       r.action, r.reason, o.snapshot as data_snapshot, o.data_at as data_timestamp, r.commit_snapshot,
       r.created_at, r.started_at, r.finished_at,
       lake.ms_between(r.created_at, r.started_at) as queued_ms,
       case when r.plan is not null then lake.ms_between(r.started_at, r.planned_at)
            else (r.figures ->> 'plan_ms')::double precision end as plan_ms,
       lake.ms_between(r.started_at, r.finished_at) as execute_ms,
       r.inserted, r.deleted, r.rows_after, r.keys,
       (select array_agg(coalesce(u.schema_name || '.' || u.name, s.schema_name || '.' || s.table_name)
                         order by s.table_id)
          from jsonb_array_elements_text(r.figures -> 'changed_inputs') as c (table_id)
          join lake.source as s on s.dt_id = r.dt_id and s.table_id = c.table_id::bigint
          left join lake.dt as u on u.id = s.source_dt_id) as changed_inputs,
       r.error_code, r.error_text, r.task_id, r.plan is not null as is_parallel, r.figures, r.dt_id
  from lake.refresh as r
  join lake.round as o on o.id = r.round_id
  join lake.dt as d on d.id = r.dt_id;
comment on view lake.refreshes is
  'Refreshes of dynamic tables, the newest with the largest id. state: SCHEDULED, EXECUTING, SUCCEEDED, FAILED, '
  'SKIPPED, UPSTREAM_FAILED or CANCELLED. action: no_data, incremental, full, reinitialize or repair, with the reason.';
