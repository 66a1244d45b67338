-- changed_sources: the base tables that have changed since a table of a round last read them, or that it never read; by
-- their names in lower case. Most rounds have none.
--
--   plan    walk
create or replace function lake.changed_sources(p_round_id bigint)
  returns table (schema_name text, table_name text)
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select distinct lower(s.schema_name), lower(s.table_name)
    from lake.round as o
    join lake.refresh as r on r.round_id = o.id
    join lake.source as s on s.dt_id = r.dt_id and s.source_dt_id is null
    left join lake.read as e on e.dt_id = s.dt_id and e.table_id = s.table_id
   where o.id = p_round_id
     and (e.snapshot is null
          or e.snapshot < o.snapshot
         and exists (select
                       from lake.change as c
                      where c.table_id = s.table_id
                        and c.kind <> 'upkeep'
                        and c.snapshot_id > e.snapshot
                        and c.snapshot_id <= o.snapshot))
$$;
