-- delete_settled: remove settled trees, oldest first. Returns the number of roots.
--
--   locks   the outcomes of roots that are free, so that no retry can reach the tree; then the rows it deletes
create or replace function worker.delete_settled(
  p_completed_before  timestamptz,
  p_failed_before     timestamptz,
  p_limit             integer
)
  returns integer
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_roots bigint[];
  v_tree  bigint[];
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

  delete from worker.outcome as o where o.id = any (v_tree);
  delete from worker.scope as s where s.id = any (v_tree);
  delete from worker.attempt as a where a.task_id = any (v_tree);
  delete from worker.warning as w where w.task_id = any (v_tree);
  delete from worker.task as t where t.id = any (v_tree);
  return cardinality(v_roots);
end;
$$;
