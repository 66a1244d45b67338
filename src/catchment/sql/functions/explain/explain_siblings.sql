-- explain_siblings: the children of a serial scope run one after another, and another one has its turn. It is usually
-- near the first one in line; in a large scope, only tasks near that are read. See explain.
create or replace function worker.explain_siblings(
  p_task_id    bigint,
  p_parent_id  bigint,
  p_at         worker.whereabouts,
  p_now        timestamptz
)
  returns setof worker.condition
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant integer := 1000;
  v_first  bigint;
  v_active bigint;
  v_ahead  bigint;
begin
  if not exists (select from worker.scope as s where s.id = p_parent_id and s.child_mode = 'serial') then
    return;
  end if;
  select b.id into v_first
    from worker.blocked as b
   where b.wait_id = p_parent_id and b.reason = 'serial'
   order by b.band, b.place, b.id
   limit 1;
  select c.id into v_active
    from (select x.id
            from (select t.id from worker.task as t where t.parent_id = p_parent_id and t.id < v_first
                   order by t.id desc limit c_most) as x
          union all
          select x.id
            from (select t.id from worker.task as t where t.parent_id = p_parent_id and t.id > coalesce(v_first, 0)
                   order by t.id limit c_most) as x
          union all
          select x.id
            from (select t.id from worker.task as t where t.parent_id = p_parent_id
                   order by t.id desc limit c_most) as x) as c
   where exists (select from worker.running as r where r.id = c.id)
      or exists (select from worker.ready as r where r.id = c.id)
      or exists (select from worker.scope as s where s.id = c.id and s.state = 'waiting')
      or exists (select from worker.blocked as b where b.id = c.id and b.reason in ('retry', 'snooze'))
   limit 1;
  if v_active is null and p_at.reason <> 'serial' and v_first is null then
    return;
  end if;
  select count(*) into v_ahead
    from (select
            from worker.blocked as b
           where b.wait_id = p_parent_id
             and (b.band, b.place, b.id) < (p_at.band, p_at.place, p_task_id)
             and b.reason = 'serial'
           order by b.band, b.place, b.id
           limit c_most) as a;
  return query
    select 'serial', true,
           jsonb_strip_nulls(jsonb_build_object('parent_id', p_parent_id, 'task', s.standing, 'ahead', v_ahead)),
           format('The children of task %s run one after another; %s%s%s.', p_parent_id,
                  coalesce(worker.said_task(s.standing), 'another one') || ' is before it',
                  coalesce(', ' || worker.said_state(s.standing, p_now), ''),
                  worker.said_more(v_ahead)),
           'catchment task why ' || v_active
      from (select worker.standing(v_active) as standing) as s;
end;
$$;
