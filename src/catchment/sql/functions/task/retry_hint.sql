-- retry_hint: what to do for a child that cannot be retried by itself: retry the topmost task above it that has
-- settled, which runs what failed in its tree again.
create or replace function worker.retry_hint(p_parent_id bigint)
  returns text
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with recursive up as (
    select t.id, t.parent_id
      from worker.task as t
      join worker.outcome as o on o.id = t.id
     where t.id = p_parent_id
    union all
    select t.id, t.parent_id
      from up as c
      join worker.task as t on t.id = c.parent_id
      join worker.outcome as o on o.id = t.id
  )
  select case
           when min(u.id) is null
             then format('Wait until task %s has settled, then retry that: it runs its failed children again.',
                         p_parent_id)
           else format('Retry task %s: it runs what failed in its tree again.', min(u.id))
         end
    from up as u;
$$;
