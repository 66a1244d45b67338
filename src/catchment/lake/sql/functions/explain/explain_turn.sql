-- explain_turn: no refresh of the table is open: when the schedule refreshes it next, or why it does not. See explain.
create or replace function lake.explain_turn(
  p_dt        lake.dt,
  p_lag       interval,
  p_chain_ms  double precision,
  p_now       timestamptz
)
  returns setof worker.condition
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_asked   boolean := (p_dt).scheduler and p_lag is not null;
  v_due_at     timestamptz := p_now;
  v_tick       worker.schedule;
  v_conditions worker.condition[];
begin
  if not v_is_asked and not lake.is_read_by_schedule((p_dt).id) then
    return next (
      'not_requested', true, jsonb_build_object('scheduler', (p_dt).scheduler),
      case when (p_dt).scheduler
           then 'Its target lag is DOWNSTREAM, and no table that reads it is refreshed by the schedule.'
           else 'The schedule does not refresh it: SCHEDULER is DISABLE.' end,
      lake.table_command('refresh', (p_dt).id))::worker.condition;
    return;
  end if;
  if v_is_asked then
    v_due_at := lake.next_turn((p_dt).id, p_lag, p_chain_ms, p_now);
  end if;
  v_conditions := array(
    select c from lake.explain_workers(p_now) as c
    union all
    select c from lake.explain_connected(p_dt, p_now) as c where v_due_at <= p_now
    union all
    select c from lake.explain_tick(v_due_at, p_now) as c);
  if cardinality(v_conditions) > 0 then
    return query select c.* from unnest(v_conditions) as c;
    return;
  end if;
  select s.* into v_tick from worker.schedule as s where s.name = 'lake_tick';
  if not v_is_asked then
    return next ('next', false, '{}', 'It is refreshed together with tables that read it.', null)::worker.condition;
  elsif v_tick.enabled then
    v_due_at := greatest(v_due_at, v_tick.next_at, p_now);
    return next ('next', false, jsonb_build_object('next_at', v_due_at),
                 format('The schedule refreshes it %swithin %s.',
                        case when v_due_at > p_now then format('at %s, or ', worker.said_when(v_due_at, p_now))
                             else '' end,
                        worker.said_span(v_tick.every) || case when v_due_at > p_now then ' after that' else '' end),
                 null)::worker.condition;
  end if;
end;
$$;
