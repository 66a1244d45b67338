-- begin_stage: the round of a stage that was asked for by hand: of the units it names, of all units, or of the reports alone. A
-- flush, a reduce and planner statistics have nothing to do outside a round: null.
--
--   raises  RG009 while another round is open
create or replace function register.begin_stage(
  p_payload  jsonb,
  p_stage    text
)
  returns register.round
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_round register.round;
begin
  if p_stage in ('derive_statistical_unit_continue', 'statistical_unit_flush_staging', 'statistical_unit_facet_reduce') then
    return null;
  end if;
  perform register.recover_rounds();
  if p_stage <> 'derive_statistical_unit' then
    v_round := register.open_round('reports');
    update register.round as r set rebuild = true where r.id = v_round.id returning r.* into v_round;
    return v_round;
  end if;
  -- Absence of every key is what people type who want everything; within a round it would mean nothing.
  if p_payload ->> 'scope' = 'all'
     or not p_payload ?| array['establishment_ids', 'legal_unit_ids', 'enterprise_ids', 'power_group_ids'] then
    return register.open_round('all');
  end if;
  return register.open_round('direct',
                             (p_payload ->> 'establishment_ids')::int4multirange,
                             (p_payload ->> 'legal_unit_ids')::int4multirange,
                             (p_payload ->> 'enterprise_ids')::int4multirange,
                             (p_payload ->> 'power_group_ids')::int4multirange);
end;
$$;
