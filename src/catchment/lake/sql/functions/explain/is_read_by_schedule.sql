-- is_read_by_schedule: does the schedule refresh a table below this one? Then it refreshes this one with it.
create or replace function lake.is_read_by_schedule(p_dt_id bigint)
  returns boolean
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  with recursive below as (
    select s.dt_id as id from lake.source as s where s.source_dt_id = p_dt_id
    union
    select s.dt_id from below as b join lake.source as s on s.source_dt_id = b.id
  )
  select exists (select
                   from below as b
                   join lake.dt as d on d.id = b.id
                  where d.state = 'active' and d.scheduler and d.target_lag is not null)
$$;
