-- begin_stage: open the round of a stage that was requested manually: of all units, with scope some of those it names,
-- or of the reports alone. A flush, a reduce and planner statistics have nothing to do outside a round: null.
--
--   raises  RG014 another round is open
create or replace function register.begin_stage(
  p_payload  jsonb,
  p_stage    text
)
  returns register.round
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round register.round;
begin
  if p_stage in ('derive_statistical_unit_continue', 'statistical_unit_flush_staging',
                 'statistical_unit_facet_reduce') then
    return null;
  end if;
  perform register.recover_rounds();
  if p_stage <> 'derive_statistical_unit' then
    v_round := register.open_round('reports');
    update register.round as r set rebuild = true where r.id = v_round.id returning r.* into v_round;
    return v_round;
  end if;
  -- No scope is what people type who want everything. Ids beside it may come from a request that was merged into
  -- theirs.
  if p_payload ->> 'scope' is distinct from 'some' then
    return register.open_round('all');
  end if;
  return register.open_round('direct',
                             (p_payload ->> 'establishment_ids')::int4multirange,
                             (p_payload ->> 'legal_unit_ids')::int4multirange,
                             (p_payload ->> 'enterprise_ids')::int4multirange,
                             (p_payload ->> 'power_group_ids')::int4multirange);
end;
$$;
