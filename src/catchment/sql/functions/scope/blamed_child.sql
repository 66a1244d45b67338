-- blamed_child: the child that a scope failed by, as it is stored with the error of its task: the first that failed, in
-- the order of spawning, or else the first that was cancelled. Where that failed by a child itself, that one; so the
-- cause travels up through any number of levels, and its length stays the same.
create or replace function worker.blamed_child(p_scope_id bigint)
  returns jsonb
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  select coalesce(case when b.error ->> 'kind' = 'children' then b.error -> 'child' end,
                  jsonb_strip_nulls(jsonb_build_object(
                    'id', b.id, 'command', b.command, 'kind', b.error ->> 'kind',
                    'hint', left(b.error ->> 'hint', 1000),
                    'message', case when length(b.error ->> 'message') > 1000
                                    then left(b.error ->> 'message', 999) || '…'
                                    else b.error ->> 'message' end)))
    from unnest(array['failed', 'cancelled']) with ordinality as w (state, n)
   cross join lateral (select t.id, t.command, o.error
                         from worker.outcome as o
                         join worker.task as t on t.id = o.id
                        where o.parent_id = p_scope_id
                          and o.state <> 'completed'
                          and o.state = w.state
                          and o.merged_into is null
                        order by o.id
                        limit 1) as b
   order by w.n
   limit 1;
$$;
