-- One dynamic table with its sources, and how well it kept its lag in the last day.
select t.*,
       (select jsonb_agg(jsonb_build_object(
                 'name', coalesce(u.schema_name || '.' || u.name, s.schema_name || '.' || s.table_name),
                 'is_dynamic', u.id is not null, 'used_columns', s.used_columns, 'table_id', s.table_id,
                 'snapshot', e.snapshot, 'rows', e.rows) order by s.table_id)
          from lake.source as s
          left join lake.dt as u on u.id = s.source_dt_id
          left join lake.read as e on e.dt_id = s.dt_id and e.table_id = s.table_id
         where s.dt_id = t.id) as sources,
       (select jsonb_agg(d.schema_name || '.' || d.name order by d.id)
          from lake.source as s
          join lake.dt as d on d.id = s.dt_id
         where s.source_dt_id = t.id) as read_by,
       (select to_jsonb(a) - 'dt_id' from lake.audit_run as a where a.dt_id = t.id order by a.at desc
         limit 1) as last_audit,
       (select k.progress from worker.tasks as k join lake.refresh as r on r.task_id = k.id
         where r.id = t.open_refresh_id and k.state = 'waiting') as open_subtasks,
       d.layout
  from lake.tables as t
  join lake.dt as d on d.id = t.id
 where t.id = %(id)s
