-- bulk_page: the next tasks of a bulk behind a place, in the order in which they are changed: failed and cancelled ones
-- by their ends, or by id if they are children of one task or named; unsettled ones by id, so that a parent comes
-- before its children. At most p_looked are read, by an index; the filter is applied to these. Tasks that ended after
-- p_until, or for cancel were made after it, or have the id p_before_id or a later one, are not in it; neither are
-- bulks.
--
--   returns the ids that match with their ends, how many were looked at, and the last of these
--   plan    walk_sorted
create or replace function worker.bulk_page(
  p_verb       text,
  p_filter     jsonb,
  p_until      timestamptz,
  p_before_id  bigint,
  p_at         timestamptz,
  p_id         bigint,
  p_looked     integer
)
  returns table (ids bigint[], ats timestamptz[], looked integer, last_at timestamptz, last_id bigint)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_state text := p_filter ->> 'state';
  v_from  timestamptz := coalesce(p_at, '-infinity');
  v_named bigint[];
  v_ids   bigint[];
begin
  if p_filter ? 'ids' then
    v_named := array(select distinct e::bigint from jsonb_array_elements_text(p_filter -> 'ids') as e);
  end if;
  if p_verb = 'retry' and v_named is not null then
    v_ids := array(select o.id
                     from unnest(v_named) as x (id)
                     join worker.outcome as o on o.id = x.id
                    where o.state <> 'completed'
                      and o.state = coalesce(v_state, o.state)
                      and (not p_filter ? 'parent' or o.parent_id = (p_filter ->> 'parent')::bigint)
                      and o.id > p_id
                      and o.completed_at <= p_until
                      and o.id < p_before_id
                      and o.merged_into is null
                    order by o.id
                    limit p_looked);
  elsif v_named is not null then
    v_ids := array(select x.id
                     from unnest(v_named) as x (id)
                    where x.id > p_id
                      and x.id < p_before_id
                      and (exists (select from worker.running as r
                                    where r.id = x.id and coalesce(v_state, 'processing') = 'processing')
                           or exists (select from worker.scope as s
                                       where s.id = x.id and s.state = 'waiting'
                                         and coalesce(v_state, 'waiting') = 'waiting'
                                         and not exists (select from worker.running as r where r.id = s.id))
                           or exists (select from worker.ready as r
                                       where r.id = x.id and r.phase = 0
                                         and (v_state is null
                                              or v_state = case r.rank when 0 then 'interrupted' else 'pending' end))
                           or exists (select from worker.blocked as b
                                       where b.id = x.id and b.phase <> 1 and b.reason <> 'merged'
                                         and coalesce(v_state, 'pending') = 'pending'))
                    order by x.id
                    limit p_looked);
  elsif p_verb = 'retry' and p_filter ? 'parent' then
    v_ids := array(select o.id
                     from worker.outcome as o
                    where o.parent_id = (p_filter ->> 'parent')::bigint
                      and o.state <> 'completed'
                      and o.state = coalesce(v_state, 'failed')
                      and o.id > p_id
                      and o.completed_at <= p_until
                      and o.id < p_before_id
                      and o.merged_into is null
                    order by o.id
                    limit p_looked);
  elsif p_verb = 'retry' then
    v_ids := array(select o.id
                     from worker.outcome as o
                    where o.state <> 'completed'
                      and o.state = coalesce(v_state, 'failed')
                      and o.completed_at >= v_from
                      and o.completed_at <= p_until
                      and (o.completed_at, o.id) > (v_from, p_id)
                      and o.id < p_before_id
                      and o.merged_into is null
                    order by o.completed_at, o.id
                    limit p_looked);
  else
    v_ids := array(select x.id
                     from ((select r.id
                              from worker.running as r
                             where r.id > p_id
                               and coalesce(v_state, 'processing') = 'processing'
                             order by r.id
                             limit p_looked)
                           union all
                           (select s.id
                              from worker.scope as s
                             where s.state = 'waiting'
                               and s.id > p_id
                               and coalesce(v_state, 'waiting') = 'waiting'
                               and not exists (select from worker.running as r where r.id = s.id)
                             order by s.id
                             limit p_looked)
                           union all
                           (select r.id
                              from worker.ready as r
                             where r.id > p_id
                               and r.phase = 0
                               and (v_state is null
                                    or v_state = case r.rank when 0 then 'interrupted' else 'pending' end)
                             order by r.id
                             limit p_looked)
                           union all
                           (select b.id
                              from worker.blocked as b
                             where b.id > p_id
                               and b.phase <> 1
                               and b.reason <> 'merged'
                               and coalesce(v_state, 'pending') = 'pending'
                             order by b.id
                             limit p_looked)) as x
                    where x.id < p_before_id
                    order by x.id
                    limit p_looked);
  end if;
  looked := cardinality(v_ids);
  last_id := v_ids[looked];
  select o.completed_at into last_at from worker.outcome as o where o.id = last_id;
  select coalesce(array_agg(f.id order by f.place), '{}'), coalesce(array_agg(o.completed_at order by f.place), '{}')
    into ids, ats
    from worker.filter_tasks(v_ids, p_filter ->> 'command', p_filter ->> 'queue', p_filter ->> 'lane',
                             p_filter ->> 'error', (p_filter ->> 'made_after')::timestamptz,
                             (p_filter ->> 'made_before')::timestamptz,
                             coalesce((p_filter ->> 'top')::boolean, false)) with ordinality as f (id, place)
    join worker.task as t on t.id = f.id and t.command not in ('bulk_retry', 'bulk_cancel', 'bulk_batch')
                         and (p_verb = 'retry' or t.created_at <= p_until)
    left join worker.outcome as o on o.id = f.id;
  return next;
end;
$$;
