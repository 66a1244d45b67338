-- find_scopes: a page of the tasks that have children, newest first; those that wait for their children, or all.
-- p_before_id is the last one of the page before. p_is_top: only tasks without a parent, of the next p_looked scopes.
--
--   returns each scope that matches, at most p_page of them; and one row without a scope: the last that was looked at,
--           and whether there are more
--   plan    walk_sorted
create or replace function worker.find_scopes(
  p_is_open    boolean default true,
  p_is_top     boolean default true,
  p_before_id  bigint default null,
  p_page       integer default 50,
  p_looked     integer default 5000
)
  returns table (id bigint, total integer, open integer, failed integer, cancelled integer, last_id bigint,
                 has_more boolean)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_from bigint := coalesce(p_before_id, 9223372036854775807);
  v_size integer := case when p_is_top then p_looked else p_page end;
  v_ids  bigint[];
begin
  if p_is_open then
    v_ids := array(select s.id
                     from worker.scope as s
                    where s.state = 'waiting' and s.id < v_from
                    order by s.id desc
                    limit v_size);
  else
    v_ids := array(select s.id from worker.scope as s where s.id < v_from order by s.id desc limit v_size);
  end if;
  return query
  select s.id, s.total_children, s.open_children, s.failed_children, s.cancelled_children, null::bigint, null::boolean
    from unnest(v_ids) with ordinality as x (id, place)
    join worker.scope as s on s.id = x.id
   where not p_is_top or s.parent_id is null
   order by x.place
   limit p_page;
  return query
  select null::bigint, null::integer, null::integer, null::integer, null::integer, v_ids[cardinality(v_ids)],
         cardinality(v_ids) = v_size;
end;
$$;
