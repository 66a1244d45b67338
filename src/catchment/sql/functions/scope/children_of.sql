-- children_of: the children of a task in the order they were made, with how they ended. For its join.
create or replace function worker.children_of(p_id bigint)
  returns table (id bigint, command text, payload jsonb, state text, result jsonb, info jsonb)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select t.id, t.command, t.payload, o.state, o.result, o.info
    from worker.task as t
    join worker.outcome as o on o.id = t.id
   where t.parent_id = p_id
   order by t.id;
$$;
