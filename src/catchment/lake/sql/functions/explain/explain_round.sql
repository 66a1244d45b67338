-- explain_round: in its round, the refresh of the table waits for those of tables above, which come first. Named are
-- those that run or are queued; else those that wait themselves. See explain.
create or replace function lake.explain_round(
  p_refresh   lake.refresh,
  p_evidence  jsonb,
  p_now       timestamptz
)
  returns setof worker.condition
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    with recursive above as (
      select s.source_dt_id as id from lake.source as s where s.dt_id = (p_refresh).dt_id and s.source_dt_id is not null
      union
      select s.source_dt_id from above as a join lake.source as s on s.dt_id = a.id where s.source_dt_id is not null
    ), opened as (
      select d.id, d.schema_name || '.' || d.name as name, r.task_id, r.started_at, r.queued_at, r.created_at,
             rank() over (order by (r.task_id is null)) as place
        from above as a
        join lake.dt as d on d.id = a.id
        join lake.refresh as r on r.dt_id = d.id and r.round_id = (p_refresh).round_id and r.finished_at is null
    )
    select 'upstream', true,
           p_evidence || jsonb_build_object(
             'table', jsonb_build_object('id', o.id, 'name', o.name), 'task', worker.standing(o.task_id), 'since',
             coalesce(o.started_at, o.queued_at, o.created_at)),
           format('In round %s it waits for %s, which it reads: %s since %s.', (p_refresh).round_id, o.name,
                  case when o.started_at is not null then 'that refresh has been running'
                       when o.task_id is not null then 'that refresh has been waiting in queue lake'
                       else 'that refresh has been waiting too,' end,
                  worker.said_when(coalesce(o.started_at, o.queued_at, o.created_at), p_now)),
           lake.table_command('why', o.id)
      from opened as o
     where o.place = 1
     order by o.id
     limit 5;
end;
$$;
