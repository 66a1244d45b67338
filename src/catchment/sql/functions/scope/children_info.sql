-- children_info: the figures of a task's children, merged: sums of numbers, else the value of the youngest child.
create or replace function worker.children_info(p_id bigint)
  returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select jsonb_object_agg(m.key, m.value)
    from (select e.key,
                 case
                   when bool_and(jsonb_typeof(e.value) = 'number') then
                     to_jsonb(sum(case when jsonb_typeof(e.value) = 'number' then (e.value #>> '{}')::numeric end))
                   else (array_agg(e.value order by c.id desc))[1]
                 end as value
            from worker.task as c
            join worker.outcome as o on o.id = c.id
           cross join lateral jsonb_each(o.info) as e
           where c.parent_id = p_id
             and jsonb_typeof(o.info) = 'object'
           group by e.key) as m;
$$;
