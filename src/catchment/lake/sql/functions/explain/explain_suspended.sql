-- explain_suspended: the table is suspended, or one above it is, by people or after failures. See explain.
create or replace function lake.explain_suspended(
  p_dt   lake.dt,
  p_now  timestamptz
)
  returns setof worker.condition
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    with recursive above as (
      select (p_dt).id as id
      union
      select s.source_dt_id from above as a join lake.source as s on s.dt_id = a.id where s.source_dt_id is not null
    )
    select case d.id when (p_dt).id then 'suspended' else 'upstream_suspended' end, true,
           jsonb_strip_nulls(jsonb_build_object(
             'table', jsonb_build_object('id', d.id, 'name', d.schema_name || '.' || d.name),
             'by', d.suspended_by, 'since', d.suspended_at, 'failures', nullif(d.error_streak, 0))),
           format('%s has been suspended since %s, %s.',
                  case d.id when (p_dt).id then 'It' else d.schema_name || '.' || d.name || ', which it reads,' end,
                  worker.said_when(d.suspended_at, p_now),
                  case d.suspended_by when 'user' then 'on request'
                       else format('after %s failed refreshes in a row', d.error_streak) end),
           lake.table_command('resume', d.id)
      from above as a
      join lake.dt as d on d.id = a.id
     where d.state = 'suspended'
       and d.suspended_by <> 'upstream'
     order by d.id <> (p_dt).id, d.id
     limit 5;
end;
$$;
