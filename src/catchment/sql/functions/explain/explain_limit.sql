-- explain_limit: the limit of the command is reached: its places are taken, or its rate allows no start yet. Holders
-- usually came before the waiting tasks, so they are searched near the first of these. See explain.
create or replace function worker.explain_limit(
  p_task_id  bigint,
  p_gate     text,
  p_command  text,
  p_at       worker.whereabouts,
  p_now      timestamptz
)
  returns setof worker.condition
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant integer := 1000;
  v_limit   worker.command_registry;
  v_gate    worker.gate;
  v_freed   bigint;
  v_unused  bigint;
  v_ahead   bigint;
  v_held    bigint;
  v_tokens  double precision;
  v_first   bigint;
  v_holders jsonb;
begin
  select c.* into v_limit from worker.command_registry as c where c.command = p_command;
  select g.* into v_gate from worker.gate as g where g.gate = p_gate;
  select coalesce(sum(a.freed) filter (where a.gate = p_gate), 0),
         coalesce(sum(a.unused) filter (where a.gate = p_gate), 0)
    into v_freed, v_unused
    from (select x.gate, x.freed, x.unused from worker.gate_arrival as x order by x.arrival_id limit c_most) as a;
  select count(*) into v_ahead
    from (select
            from worker.blocked as b
           where b.reason = 'limit' and b.lane = p_gate
             and (b.band, b.place, b.id) < (p_at.band, p_at.place, p_task_id)
           order by b.band, b.place, b.id
           limit c_most) as a;
  v_held := greatest(coalesce(v_gate.held, 0) - v_freed, 0);
  v_tokens := coalesce(worker.refilled(v_gate.tokens, v_gate.refilled_at, p_now, v_limit.rate, v_limit.rate_per),
                       v_limit.rate) + v_unused;

  if v_held + v_ahead >= v_limit.max_running then
    select min(b.id) into v_first
      from (select x.id from worker.blocked as x where x.reason = 'limit' and x.lane = p_gate
             order by x.band, x.place, x.id limit c_most) as b;
    select jsonb_agg(worker.standing(h.id) order by h.id) into v_holders
      from worker.gate_holders(p_gate, coalesce(v_first, p_task_id), c_most) as h (id);
    return next (
      'limit', true,
      jsonb_strip_nulls(jsonb_build_object(
        'gate', p_gate, 'command', p_command, 'max_running', v_limit.max_running, 'held', v_held, 'ahead', v_ahead,
        'holders', v_holders)),
      format('Its limit (command %s) has %s, and %s taken%s%s.', p_command,
             worker.said_count(v_limit.max_running, 'place'), v_held || case v_held when 1 then ' is' else ' are' end,
             coalesce(', by ' || worker.said_task(v_holders -> 0) || ', ' || worker.said_state(v_holders -> 0, p_now)
                      || case when v_held > 1 then ', and others' else '' end, ''),
             worker.said_more(v_ahead)),
      'catchment task why ' || (v_holders -> 0 ->> 'id'))::worker.condition;
  end if;
  if floor(v_tokens + 0.000001) <= v_ahead then
    return next worker.rate_reached('limit_rate', 'Command ' || p_command, v_limit.rate, v_limit.rate_per, v_tokens,
                                    v_ahead, jsonb_build_object('gate', p_gate, 'command', p_command), p_now);
  end if;
end;
$$;
