-- explain_collection: the task that assigns waiting changes to a round, and why it does not run; or that none was
-- requested. See explain.
create or replace function register.explain_collection()
  returns setof worker.condition
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_task_id bigint;
begin
  select t.id into v_task_id
    from worker.open_tasks('{analytics}', '{collect_changes}') as t
   where t.merged_into is null
   order by t.due_at nulls first, t.id
   limit 1;
  if v_task_id is not null then
    return query select c.* from register.explain_task(v_task_id) as c;
  elsif not exists (select from register.round as r where r.state = 'open') then
    return next ('not_requested', true, '{}'::jsonb,
                 'No collection is requested; the daily one will process the changes.',
                 'catchment register derive  # request one')::worker.condition;
  end if;
end;
$$;
