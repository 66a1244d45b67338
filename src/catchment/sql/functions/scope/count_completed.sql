-- count_completed: what the completion of these children does to the counters of their scopes, one change for each
-- scope.
create or replace function worker.count_completed(p_ids bigint[])
  returns worker.scope_change[]
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select array_agg(worker.counted_change(c.parent_id, c.depth - 1, p_settled => c.n, p_has_info => c.has_info,
                                         p_advances => true))
    from (select t.parent_id, t.depth, count(*)::integer as n, bool_or(o.info is not null) as has_info
            from unnest(p_ids) as i (id)
           cross join lateral (select t.parent_id, t.depth from worker.task as t where t.id = i.id limit 1) as t
           cross join lateral (select o.info from worker.outcome as o where o.id = i.id limit 1) as o
           group by t.parent_id, t.depth) as c;
$$;
