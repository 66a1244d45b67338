-- lost_names: dynamic tables whose name no longer leads to their content, because another client has dropped the view,
-- or made something else in its place. taken_by: table or view, if the name is in use; null when the view can be made
-- again.
create or replace function lake.lost_names()
  returns table (dt_id bigint, schema_name text, name text, generation integer, layout jsonb, taken_by text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select d.id, d.schema_name, d.name, d.generation, d.layout,
         case when n.is_view then 'view'
              when exists (select
                             from lake.ducklake_table as t
                             join lake.ducklake_schema as s on s.schema_id = t.schema_id and s.end_snapshot is null
                            where t.end_snapshot is null
                              and lower(t.table_name) = lower(d.name)
                              and lower(s.schema_name) = lower(d.schema_name)) then 'table' end
    from lake.dt as d
   cross join lateral (select count(*) > 0 as is_view,
                              coalesce(bool_or(v.sql ~ format('\mt%sg%s\M', d.id, d.generation)), false) as is_ours
                         from lake.ducklake_view as v
                         join lake.ducklake_schema as s on s.schema_id = v.schema_id and s.end_snapshot is null
                        where v.end_snapshot is null
                          and lower(v.view_name) = lower(d.name)
                          and lower(s.schema_name) = lower(d.schema_name)) as n
   where d.state in ('active', 'suspended')
     and d.replaces is null
     and not n.is_ours
   order by d.id
$$;
