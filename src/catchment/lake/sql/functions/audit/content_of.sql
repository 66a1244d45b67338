-- content_of: what a dynamic table holds and what that was computed from, as order_of says what a refresh is to do:
-- sources as they were read, the stored rows at the newest snapshot. In one statement, so that the parts belong
-- together. A source whose content was replaced since then has the old one, which stays readable at its version.
--
--   returns null when there is no such table, or it was never filled
create or replace function lake.content_of(p_dt_id bigint)
  returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
           'refresh_id', 0, 'fence', 0, 'state', 'CONTENT', 'trigger', 'manual', 'deadline_at', null, 'plan', null,
           'forced', null, 'epoch', f.epoch, 'stored_snapshot',
           (select max(s.snapshot_id) from lake.ducklake_snapshot as s),
           'data_snapshot', f.data_snapshot, 'data_at', f.data_at, 'data_at_old', f.data_at,
           'dt_id', d.id, 'generation', d.generation, 'schema_name', d.schema_name, 'name', d.name,
           'definition', d.definition, 'definition_hash', d.definition_hash, 'properties', d.properties,
           'layout', d.layout, 'buckets', d.buckets, 'physical_id', d.physical_id, 'replaces', null,
           'commit_snapshot', f.commit_snapshot, 'rows', f.rows,
           'reads', coalesce((
             select jsonb_agg(jsonb_build_object(
                      'table_id', s.table_id, 'dt_id', s.source_dt_id,
                      'schema_name', case when u.id is null then s.schema_name else 'dt' end,
                      'table_name', case when u.id is null then s.table_name
                                         else coalesce((select min(t.table_name) from lake.ducklake_table as t
                                                         where t.table_id = e.table_id),
                                                       format('t%sg%s', u.id, u.generation)) end,
                      'new', e.snapshot, 'rows_new', e.rows, 'old', e.snapshot, 'rows_old', e.rows,
                      'columns_old', e.columns, 'merged_old', e.merged) order by s.table_id)
               from lake.source as s
               join lake.read as e on e.dt_id = s.dt_id and e.table_id = s.table_id
               left join lake.dt as u on u.id = s.source_dt_id
              where s.dt_id = d.id), '[]'))
    from lake.dt as d
    join lake.frontier as f on f.dt_id = d.id
   where d.id = p_dt_id
     and f.data_snapshot is not null
$$;
