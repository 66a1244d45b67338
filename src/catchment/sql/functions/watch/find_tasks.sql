-- find_tasks: a page of the list of tasks, newest first; failed and cancelled ones by their ends, the last one first.
-- p_before_id, and for those two p_before_at, is the last task of the page before. At most p_looked tasks are read, in
-- the order of an index; the other filters are applied to these: see filter_tasks.
--
--   returns each task that matches, at most p_page of them; and one row without a task: how many were looked at, the
--           last of these, when it was made and when it ended
--   plan    walk_sorted
create or replace function worker.find_tasks(
  p_state        text default null,
  p_command      text default null,
  p_queue        text default null,
  p_lane         text default null,
  p_error        text default null,
  p_made_after   timestamptz default null,
  p_made_before  timestamptz default null,
  p_is_top       boolean default false,
  p_before_id    bigint default null,
  p_before_at    timestamptz default null,
  p_page         integer default 50,
  p_looked       integer default 20000
)
  returns table (id bigint, looked integer, last_id bigint, last_made_at timestamptz, last_ended_at timestamptz)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids   bigint[];
  v_from  bigint := coalesce(p_before_id, 9223372036854775807);
  v_last  bigint;
begin
  if p_state is null then
    v_ids := array(select t.id from worker.task as t where t.id < v_from order by t.id desc limit p_looked);
  elsif p_state = 'processing' then
    v_ids := array(select r.id from worker.running as r where r.id < v_from order by r.id desc limit p_looked);
  elsif p_state = 'waiting' then
    v_ids := array(select s.id
                     from worker.scope as s
                    where s.state = 'waiting'
                      and s.id < v_from
                      and not exists (select from worker.running as r where r.id = s.id)
                    order by s.id desc
                    limit p_looked);
  elsif p_state = 'pending' then
    v_ids := array(select x.id
                     from ((select r.id
                              from worker.ready as r
                             where r.id < v_from
                               and r.rank <> 0
                               and r.phase = 0
                             order by r.id desc
                             limit p_looked)
                           union all
                           (select b.id
                              from worker.blocked as b
                             where b.id < v_from
                               and b.phase <> 1
                             order by b.id desc
                             limit p_looked)) as x
                    order by x.id desc
                    limit p_looked);
  elsif p_state = 'interrupted' then
    v_ids := array(select r.id
                     from worker.ready as r
                    where r.rank = 0
                      and r.phase = 0
                      and r.id < v_from
                    order by r.id desc
                    limit p_looked);
  elsif p_state = 'completed' then
    v_ids := array(select o.id
                     from worker.outcome as o
                    where o.id < v_from
                      and o.state = 'completed'
                    order by o.id desc
                    limit p_looked);
  elsif p_before_at is null then
    v_ids := array(select o.id
                     from worker.outcome as o
                    where o.state <> 'completed'
                      and o.state = p_state
                    order by o.completed_at desc, o.id desc
                    limit p_looked);
  else
    v_ids := array(select o.id
                     from worker.outcome as o
                    where o.state <> 'completed'
                      and o.state = p_state
                      and o.completed_at <= p_before_at
                      and (o.completed_at, o.id) < (p_before_at, v_from)
                    order by o.completed_at desc, o.id desc
                    limit p_looked);
  end if;

  return query
  select f, null::integer, null::bigint, null::timestamptz, null::timestamptz
    from worker.filter_tasks(v_ids, p_command, p_queue, p_lane, p_error, p_made_after, p_made_before, p_is_top) as f
   limit p_page;

  v_last := v_ids[cardinality(v_ids)];
  return query
  select null::bigint, cardinality(v_ids), v_last,
         (select t.created_at from worker.task as t where t.id = v_last),
         (select o.completed_at from worker.outcome as o where o.id = v_last);
end;
$$;
