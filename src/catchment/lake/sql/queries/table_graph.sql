-- Which dynamic table reads which table.
select d.schema_name || '.' || d.name as name, upper(d.state) as state, d.component,
       coalesce(u.schema_name || '.' || u.name, s.schema_name || '.' || s.table_name) as reads,
       u.id is not null as is_dynamic
  from lake.dt as d
  left join lake.source as s on s.dt_id = d.id
  left join lake.dt as u on u.id = s.source_dt_id
 where d.state <> 'creating'
   and d.replaces is null
 order by d.component, d.id, s.table_id
