-- version_at: the commit that holds the content of a dynamic table for a data snapshot, or null.
create or replace function lake.version_at(
  p_dt_id     bigint,
  p_snapshot  bigint
)
  returns bigint
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select v.commit_snapshot
    from lake.version as v
   where v.dt_id = p_dt_id
     and v.data_from <= p_snapshot
     and v.data_to >= p_snapshot
   order by v.data_from desc
   limit 1
$$;
