-- behind: the condition of a task behind the head of its lane, or behind the task that has the top level of its serial
-- queue (the lane without a name). See explain.
create or replace function worker.behind(
  p_head_id    bigint,
  p_halted_at  timestamptz,
  p_queue      text,
  p_lane       text,
  p_ahead      bigint,
  p_now        timestamptz
)
  returns worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select case when p_halted_at is null then 'lane' else 'halted' end, true,
         jsonb_strip_nulls(jsonb_build_object(
           'queue', p_queue, 'lane', p_lane, 'task', s.standing, 'ahead', p_ahead, 'halted_at', p_halted_at,
           'skip', case when p_halted_at is not null
                     then worker.shell_command('catchment lane skip', p_queue, p_lane) end)),
         case
           when p_halted_at is not null
             then format('%s has been halted since %s, because %s failed', upper(left(l.name, 1)) || substr(l.name, 2),
                         worker.said_when(p_halted_at, p_now), worker.said_task(s.standing))
           else format('In %s, %s is before it, %s', l.name, worker.said_task(s.standing),
                       worker.said_state(s.standing, p_now))
         end || worker.said_more(p_ahead) || '.',
         case
           when p_halted_at is null then 'catchment task why ' || p_head_id
           else format(E'catchment task retry %s  # run the failed task again\n%s  # skip it', p_head_id,
                       worker.shell_command('catchment lane skip', p_queue, p_lane))
         end
    from (select worker.standing(p_head_id) as standing) as s
   cross join (select case p_lane when '' then 'serial queue ' || p_queue
                                  else format('lane %s of queue %s', p_lane, p_queue) end as name) as l;
$$;
