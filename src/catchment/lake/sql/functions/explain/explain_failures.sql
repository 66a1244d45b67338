-- explain_failures: the last refresh of the table failed, or was skipped because one above it failed: then the tables
-- at the top of that chain are named. A failure does not hold it back while the table that failed is being refreshed
-- again. See explain.
create or replace function lake.explain_failures(
  p_dt_id  bigint,
  p_now    timestamptz
)
  returns setof worker.condition
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    with recursive blamed as (
      select p_dt_id as id
      union
      select s.source_dt_id
        from blamed as b
        join lake.source as s on s.dt_id = b.id and s.source_dt_id is not null
       where (select l.state from lake.last_end(b.id) as l) = 'UPSTREAM_FAILED'
    )
    select case when d.id <> p_dt_id then 'upstream_failed' when l.state = 'CANCELLED' then 'cancelled'
                else 'failed' end,
           l.state = 'FAILED'
           and not exists (select from lake.refresh as o where o.dt_id = d.id and o.finished_at is null
                              and o.started_at is not null),
           jsonb_strip_nulls(jsonb_build_object(
             'table', jsonb_build_object('id', d.id, 'name', n.name), 'refresh_id', l.id, 'round_id', l.round_id,
             'task_id', l.task_id, 'since', coalesce(f.since, l.finished_at), 'failures', nullif(f.times, 0),
             'error_code', l.error_code, 'error', left(l.error_text, 1000))),
           case when l.state = 'CANCELLED'
                then format('The last refresh of %s was cancelled at %s.', n.name,
                            worker.said_when(l.finished_at, p_now))
                else format('%s failed, %s, with %s.',
                            case when d.id = p_dt_id then 'Its' else 'It reads ' || n.name || ', whose' end
                            || case f.times when 1 then ' last refresh' else format(' last %s refreshes', f.times) end,
                            case f.times when 1 then 'at' else 'the first at' end || ' '
                            || worker.said_when(f.since, p_now),
                            rtrim(lake.said_error(l.error_code, l.error_text), '.')) end,
           lake.table_command(case when d.id = p_dt_id then 'refresh' else 'why' end, d.id)
      from blamed as b
      join lake.dt as d on d.id = b.id
     cross join lateral lake.last_end(d.id) as l
     cross join lateral (select d.schema_name || '.' || d.name as name) as n
     cross join lateral (
       select count(*) as times, min(x.finished_at) as since
         from (select r.id, r.state, r.finished_at from lake.refresh as r where r.dt_id = d.id order by r.id desc
                limit 1000) as x
        where x.state = 'FAILED'
          and x.id > coalesce((select r.id from lake.refresh as r where r.dt_id = d.id and r.state = 'SUCCEEDED'
                                order by r.id desc limit 1), 0)
     ) as f
     where l.state in ('FAILED', 'CANCELLED')
     order by d.id <> p_dt_id, f.since, d.id
     limit 5;
end;
$$;
