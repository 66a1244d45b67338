-- delete_settled: remove settled trees, oldest first. Returns the number of roots. A tree of which another transaction
-- holds a scope, to spawn into it, is left for the next time.
--
--   locks   the outcomes of roots that are free, so that no retry can reach the tree; scopes that are free; then the
--           rows it deletes
create or replace function worker.delete_settled(
  p_completed_before  timestamptz,
  p_failed_before     timestamptz,
  p_limit             integer
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_roots bigint[];
  v_tree  bigint[];
  v_free  bigint[];
  v_kept  bigint[];
begin
  v_roots := array(
    select o.id
      from worker.outcome as o
      join worker.task as t on t.id = o.id
     where t.parent_id is null
       and o.completed_at < case o.state when 'completed' then p_completed_before else p_failed_before end
       and not exists (select from worker.lane as l where l.head_id = o.id)
     order by o.id
     limit p_limit
       for update of o skip locked);
  with recursive tree as (
    select r.id from unnest(v_roots) as r (id)
    union all
    select c.id from tree as p join worker.task as c on c.parent_id = p.id
  )
  select array_agg(t.id) into v_tree from tree as t;
  v_free := array(select s.id from worker.scope as s where s.id = any (v_tree) for update skip locked);
  v_kept := array(
    select distinct coalesce(t.root_id, t.id)
      from worker.scope as s
      join worker.task as t on t.id = s.id
     where s.id in (select i from unnest(v_tree) as i except select i from unnest(v_free) as i));
  if v_kept <> '{}' then
    v_roots := array(select i from unnest(v_roots) as i where i <> all (v_kept));
    v_tree := array(select t.id from worker.task as t where t.id = any (v_tree)
                       and coalesce(t.root_id, t.id) <> all (v_kept));
  end if;

  delete from worker.outcome as o where o.id = any (v_tree);
  delete from worker.scope as s where s.id = any (v_tree);
  delete from worker.attempt as a where a.task_id = any (v_tree);
  delete from worker.warning as w where w.task_id = any (v_tree);
  delete from worker.snoozed as z where z.task_id = any (v_tree);
  delete from worker.bulk as b where b.task_id = any (v_tree);
  delete from worker.task as t where t.id = any (v_tree);
  return cardinality(v_roots);
end;
$$;
