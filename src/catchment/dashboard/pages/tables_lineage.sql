-- tables_lineage: which table reads which; source_id is null for a table that is not dynamic.
select s.dt_id as id, s.source_dt_id as source_id,
       coalesce(u.schema_name || '.' || u.name, s.schema_name || '.' || s.table_name) as source
  from lake.source as s
  join lake.dt as d on d.id = s.dt_id and d.state <> 'creating' and d.replaces is null
  left join lake.dt as u on u.id = s.source_dt_id
 order by s.dt_id, s.table_id
 limit %(most)s
