-- explain_queue: the queue is paused, has reached its limit of running tasks, or its rate allows no start yet. See
-- explain.
create or replace function worker.explain_queue(
  p_queue  text,
  p_at     worker.whereabouts,
  p_ahead  bigint,
  p_now    timestamptz
)
  returns setof worker.condition
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue   worker.queue_registry;
  v_running bigint;
  v_oldest  bigint;
  v_tokens  double precision;
begin
  select q.* into v_queue from worker.queue_registry as q where q.queue_id = p_at.queue_id;
  if v_queue.paused_at is not null and coalesce(v_queue.paused_until > p_now, true) then
    return next (
      'paused', true,
      jsonb_strip_nulls(jsonb_build_object('queue', p_queue, 'since', v_queue.paused_at, 'until', v_queue.paused_until,
                                           'by', v_queue.paused_by)),
      format('Queue %s has been paused since %s%s%s.', p_queue, worker.said_when(v_queue.paused_at, p_now),
             coalesce(' by ' || v_queue.paused_by, ''),
             coalesce(', until ' || worker.said_when(v_queue.paused_until, p_now), '')),
      worker.shell_command('catchment queue resume', p_queue) || '  # resume it')::worker.condition;
  end if;

  if v_queue.max_running is not null then
    select count(*), min(r.id) into v_running, v_oldest
      from (select x.id from worker.running as x where x.queue_id = p_at.queue_id order by x.id
             limit v_queue.max_running) as r;
    if v_running + p_ahead >= v_queue.max_running then
      return query
        select 'max_running', true,
               jsonb_strip_nulls(jsonb_build_object('queue', p_queue, 'max_running', v_queue.max_running, 'running',
                                                    v_running, 'ahead', p_ahead, 'task', s.standing)),
               format('Queue %s runs at most %s at a time, and %s now%s%s.', p_queue,
                      worker.said_count(v_queue.max_running, 'task'),
                      v_running || case v_running when 1 then ' runs' else ' run' end,
                      coalesce(', such as ' || worker.said_task(s.standing) || ', '
                               || worker.said_state(s.standing, p_now), ''),
                      worker.said_more(p_ahead)),
               'catchment task why ' || v_oldest
          from (select worker.standing(v_oldest) as standing) as s;
    end if;
  end if;

  if v_queue.rate is not null then
    select worker.refilled(m.tokens, m.refilled_at, p_now, v_queue.rate, v_queue.rate_per) into v_tokens
      from worker.queue_meter as m
     where m.queue_id = p_at.queue_id;
    v_tokens := coalesce(v_tokens, v_queue.rate);
    if floor(v_tokens + 0.000001) <= p_ahead then
      return next worker.rate_reached('rate', 'Queue ' || p_queue, v_queue.rate, v_queue.rate_per, v_tokens, p_ahead,
                                      jsonb_build_object('queue', p_queue), p_now);
    end if;
  end if;
end;
$$;
