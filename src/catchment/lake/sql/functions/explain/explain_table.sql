-- explain_table: explain, for a caller that has read lake.effective_lag: the lag that the table has to keep, and what a
-- refresh of it and of all it reads is expected to take.
create or replace function lake.explain_table(
  p_dt_id     bigint,
  p_lag       interval,
  p_chain_ms  double precision,
  p_now       timestamptz
)
  returns setof worker.condition
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_dt      lake.dt;
  v_refresh lake.refresh;
begin
  select d.* into v_dt from lake.dt as d where d.id = p_dt_id and d.state <> 'creating';
  if not found then
    return;
  end if;
  return query select c.* from lake.explain_age(p_dt_id, p_lag, p_now) as c;
  if v_dt.state = 'dropping' then
    return next ('dropping', true, '{}', 'It is being dropped.', null)::worker.condition;
    return;
  end if;
  select r.* into v_refresh
    from lake.refresh as r
   where r.dt_id = p_dt_id
     and r.finished_at is null
   order by r.id
   limit 1;
  return query select c.* from lake.explain_suspended(v_dt, p_now) as c;
  return query select c.* from lake.explain_failures(p_dt_id, p_now) as c;
  if v_refresh.id is not null then
    return query select c.* from lake.explain_open(v_refresh, p_now) as c;
  elsif v_dt.state = 'active' then
    return query select c.* from lake.explain_turn(v_dt, p_lag, p_chain_ms, p_now) as c;
  end if;
  return query select c.* from lake.explain_cost(v_dt, p_lag, p_chain_ms) as c;
end;
$$;
