-- close_idle_scopes: close scopes that wait although no child is open and no join is running, as after a manual change
-- or a restore. Each call looks at the next p_limit rows of the table. An index would have to contain the counters,
-- which change with each batch of children.
--
--   waiting -> completed | failed | cancelled, or its join becomes ready
--   locks   scope rows that are free; then see follow_through
--   returns how many were closed
create or replace function worker.close_idle_scopes(
  p_only   bigint default null,
  p_limit  integer default 50000
)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids   bigint[] := array[p_only];
  v_seen  bigint;
  v_last  bigint;
  v_id    bigint;
  v_scope worker.scope;
  v_count bigint := 0;
begin
  if p_only is null then
    select count(*), max(w.id), array_agg(w.id)
           filter (where w.state = 'waiting' and w.open_children = 0 and not w.is_joining)
      into v_seen, v_last, v_ids
      from (select s.id, s.state, s.open_children, s.is_joining
              from worker.scope as s
             where s.id > (select t.position from worker.turn as t where t.name = 'chores')
             order by s.id
             limit p_limit) as w;
    v_ids := array(select i from unnest(v_ids) as i where i <> all (worker.set_aside('scope')::bigint[])
                    order by i desc);
    update worker.turn as t
       set position = case when v_seen < p_limit then 0 else v_last end
     where t.name = 'chores'
       and t.position <> case when v_seen < p_limit then 0 else v_last end;
  end if;
  foreach v_id in array v_ids loop
    select s.* into v_scope
      from worker.scope as s
     where s.id = v_id
       and s.state = 'waiting'
       and s.open_children = 0
       and not s.is_joining
       for no key update skip locked;
    if found then
      perform worker.follow_through(worker.close_scopes(array[v_scope]));
      v_count := v_count + 1;
    end if;
  end loop;
  return v_count;
end;
$$;
