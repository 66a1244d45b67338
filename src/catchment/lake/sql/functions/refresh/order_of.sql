-- order_of: what a refresh is to do. Sources that are base tables are read at the round's snapshot, dynamic tables at
-- the commit that has their content for it; "new" is null when there is none, or when their definition was replaced
-- after the round was opened: what else the round has read may be from the old one. "rows_new" is how many rows it has
-- to find there: see take_readings; null where that is not known.
create or replace function lake.order_of(p_refresh_id bigint)
  returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
           'refresh_id', r.id, 'fence', r.fence, 'state', r.state, 'trigger', o.trigger, 'deadline_at', r.deadline_at,
           'plan', r.plan, 'epoch', r.from_epoch, 'stored_snapshot', r.checked_snapshot,
           'data_snapshot', o.snapshot, 'data_at', o.data_at, 'data_at_old', f.data_at,
           'dt_id', d.id, 'generation', d.generation, 'schema_name', d.schema_name, 'name', d.name,
           'definition', d.definition, 'definition_hash', d.definition_hash, 'properties', d.properties,
           'layout', d.layout, 'buckets', d.buckets, 'physical_id', d.physical_id,
           'replaces', (select jsonb_build_object('dt_id', p.id, 'schema_name', p.schema_name, 'name', p.name,
                                                  'generation', p.generation)
                          from lake.dt as p
                         where p.id = d.replaces),
           'commit_snapshot', f.commit_snapshot, 'rows', f.rows, 'executor', (select l.executor from lake.lake as l),
           'forced', case when f.data_snapshot is not null then lake.foreign_write(d.physical_id, f, r.checked_snapshot)
                          when d.generation > 1 then 'DEFINITION_CHANGED'
                          else 'FIRST_FILL' end,
           'reads', coalesce((
             select jsonb_agg(jsonb_build_object(
                      'table_id', s.table_id, 'dt_id', s.source_dt_id,
                      'dynamic_table', format('%s.%s', u.schema_name, u.name),
                      'schema_name', case when u.id is null then s.schema_name else 'dt' end,
                      'table_name', case when u.id is null then s.table_name
                                         else format('t%sg%s', u.id, u.generation) end,
                      'new', case when u.id is null then o.snapshot else v.commit_snapshot end,
                      'rows_new', case when u.id is not null then v.rows
                                       when g.round_id is not null then g.rows
                                       else e.rows end,
                      'old', e.snapshot, 'rows_old', e.rows, 'columns_old', e.columns,
                      'merged_old', e.merged) order by s.table_id)
               from lake.source as s
               left join lake.dt as u on u.id = s.source_dt_id
               left join lake.refresh as q on q.round_id = o.id and q.dt_id = u.id
               left join lake.read as e on e.dt_id = s.dt_id and e.table_id = s.table_id
               left join lake.reading as g on g.round_id = o.id and g.schema_name = lower(s.schema_name)
                                          and g.table_name = lower(s.table_name)
               left join lateral (select x.commit_snapshot, x.rows
                                    from lake.version as x
                                   where x.dt_id = u.id
                                     and x.data_from <= o.snapshot
                                     and x.data_to >= o.snapshot
                                     and coalesce(q.generation = u.generation, true)
                                   order by x.data_from desc
                                   limit 1) as v on true
              where s.dt_id = d.id), '[]'))
    from lake.refresh as r
    join lake.round as o on o.id = r.round_id
    join lake.dt as d on d.id = r.dt_id
    join lake.frontier as f on f.dt_id = d.id
   where r.id = p_refresh_id
$$;
