-- find_children: a page of the children of a task that are in one state, in the order they were made, or the other way
-- round if p_is_backward. p_after_id is the last one of the page before. Failed, cancelled and waiting children have
-- indexes; those that run or were interrupted are looked for among all such tasks; pending and completed ones among all
-- children. At most p_looked tasks are looked at.
--
--   returns each child that matches, at most p_page of them; and one row without a child: how many tasks were looked
--           at, the last of these, and whether there are more
--   plan    walk_sorted
create or replace function worker.find_children(
  p_scope_id     bigint,
  p_state        text,
  p_command      text default null,
  p_after_id     bigint default null,
  p_is_backward  boolean default false,
  p_page         integer default 50,
  p_looked       integer default 20000
)
  returns table (id bigint, looked integer, last_id bigint, has_more boolean)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_last   bigint := coalesce(p_after_id, case when p_is_backward then 9223372036854775807 else 0 end);
  v_looked integer := 0;
  v_page   integer := p_page;
  v_rows   integer;
  v_size   integer;
  v_ids    bigint[];
begin
  loop
    -- a few first: most pages are full soon
    v_size := least(case when v_looked = 0 then 2 * p_page else 2000 end, p_looked - v_looked);
    if p_state in ('failed', 'cancelled') then
      v_ids := array(select o.id
                       from worker.outcome as o
                      where o.parent_id = p_scope_id and o.state <> 'completed' and o.state = p_state and o.id > v_last
                      order by o.id
                      limit v_size);
    elsif p_state = 'waiting' then
      v_ids := array(select s.id
                       from worker.scope as s
                      where s.parent_id = p_scope_id and s.state = 'waiting' and s.id > v_last
                        and not exists (select from worker.running as r where r.id = s.id)
                      order by s.id
                      limit v_size);
    elsif p_state = 'processing' then
      v_ids := array(select r.id from worker.running as r where r.id > v_last order by r.id limit v_size);
    elsif p_state = 'interrupted' then
      v_ids := array(select r.id
                       from worker.ready as r
                      where r.rank = 0 and r.phase = 0 and r.id > v_last
                      order by r.id
                      limit v_size);
    elsif p_is_backward then
      v_ids := array(select t.id
                       from worker.task as t
                      where t.parent_id = p_scope_id and t.id < v_last
                      order by t.parent_id desc, t.id desc
                      limit v_size);
    else
      v_ids := array(select t.id
                       from worker.task as t
                      where t.parent_id = p_scope_id and t.id > v_last
                      order by t.parent_id, t.id
                      limit v_size);
    end if;

    return query
    select t.id, null::integer, null::bigint, null::boolean
      from unnest(v_ids) with ordinality as x (id, place)
      join worker.task as t on t.id = x.id
     where t.parent_id = p_scope_id
       and (p_command is null or t.command = p_command)
       and case p_state
             when 'completed' then
               exists (select from worker.outcome as o where o.id = t.id and o.state = 'completed')
             when 'pending' then
               exists (select from worker.ready as r where r.id = t.id and r.rank <> 0 and r.phase = 0)
               or exists (select from worker.blocked as b where b.id = t.id and b.phase <> 1)
             else true
           end
     order by x.place
     limit v_page;
    get diagnostics v_rows = row_count;
    v_page := v_page - v_rows;
    v_looked := v_looked + cardinality(v_ids);
    v_last := coalesce(v_ids[cardinality(v_ids)], v_last);
    exit when v_page = 0 or cardinality(v_ids) < v_size or v_looked >= p_looked;
  end loop;
  return query select null::bigint, v_looked, v_last, cardinality(v_ids) = v_size;
end;
$$;
