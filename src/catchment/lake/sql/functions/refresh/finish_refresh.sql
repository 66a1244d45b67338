-- finish_refresh: a published refresh is over. Figures "cost_units" and "cost_ms", if there, become a sample for
-- predictions.
--
--   PUBLISHED -> SUCCEEDED
--   locks   the round, the refresh row, then the table's
--   raises  CM001 the claim was lost
create or replace function lake.finish_refresh(
  p_refresh_id  bigint,
  p_fence       bigint,
  p_figures     jsonb default '{}'
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_refresh lake.refresh;
begin
  perform lake.lock_round(p_refresh_id);
  update lake.refresh as r
     set figures = r.figures || p_figures
   where r.id = p_refresh_id
     and r.fence = p_fence
     and r.state = 'PUBLISHED'
  returning r.* into v_refresh;
  if not found then
    perform lake.raise_not_held(p_refresh_id, p_fence);
  end if;
  if v_refresh.figures ?& array['cost_units', 'cost_ms'] then
    perform lake.add_sample(v_refresh.dt_id, v_refresh.action, (v_refresh.figures ->> 'cost_units')::double precision,
                            (v_refresh.figures ->> 'cost_ms')::double precision);
  end if;
  perform lake.settle_refresh(p_refresh_id, 'SUCCEEDED');
  perform lake.advance(v_refresh.round_id);
end;
$$;
