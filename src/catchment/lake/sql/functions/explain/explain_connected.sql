-- explain_connected: the table is due, but a round of connected tables is still open: they are refreshed together. See
-- explain.
create or replace function lake.explain_connected(
  p_dt   lake.dt,
  p_now  timestamptz
)
  returns setof worker.condition
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select 'round', true,
           jsonb_strip_nulls(jsonb_build_object(
             'table', jsonb_build_object('id', d.id, 'name', d.schema_name || '.' || d.name), 'round_id', r.round_id,
             'refresh_id', r.id, 'task', worker.standing(r.task_id), 'since', coalesce(r.started_at, r.created_at))),
           format('Connected tables are refreshed together, and round %s is not finished: the refresh of %s.%s has '
                  'been %s since %s.', r.round_id, d.schema_name, d.name,
                  case when r.started_at is null then 'waiting' else 'running' end,
                  worker.said_when(coalesce(r.started_at, r.created_at), p_now)),
           lake.table_command('why', d.id)
      from lake.refresh as r
      join lake.dt as d on d.id = r.dt_id
     where r.finished_at is null
       and d.component = (p_dt).component
       and d.id <> (p_dt).id
     order by r.started_at, r.id
     limit 1;
end;
$$;
