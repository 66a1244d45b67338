-- derive_statistical_unit: determine what to derive, spawn the batches, and schedule the stages after them: planner
-- statistics, the flush, the reports. A single batch is derived here, without waking other sessions. A manual request
-- opens a round: of all units, or with scope some of the given ones.
--
--   children  statistical_unit_refresh_batch
--   raises  RG009 the round is not open, or not at this stage; RG014 another round is open
--   plan    no_jit
create or replace procedure register.derive_statistical_unit(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round    register.round := register.enter_stage(payload, 'derive_statistical_unit');
  v_key      jsonb := jsonb_build_object('round_id', v_round.id);
  v_payloads jsonb[];
begin
  select array_agg(v_key || jsonb_build_object('batch_seq', b.batch_seq)
                   || case when isempty(b.power_group_ids) then jsonb_build_object('enterprise_ids', b.enterprise_ids)
                           else jsonb_build_object('power_group_ids', b.power_group_ids) end
                   order by b.batch_seq)
    into v_payloads
    from register.plan_batches(v_round.id) as b;
  perform register.fill_units(v_round);
  if cardinality(v_payloads) = 1 and v_round.kind <> 'all' then
    perform register.refresh_batch(v_round.id, (v_payloads[1] ->> 'batch_seq')::integer,
                                   coalesce((v_payloads[1] ->> 'enterprise_ids')::int4multirange, '{}'),
                                   coalesce((v_payloads[1] ->> 'power_group_ids')::int4multirange, '{}'));
  else
    perform worker.spawn_many('statistical_unit_refresh_batch', v_payloads);
  end if;
  perform worker.follow_up('derive_statistical_unit_continue', v_key);
  perform worker.follow_up('statistical_unit_flush_staging', v_key);
  perform worker.follow_up('derive_reports', v_key);
  select jsonb_build_object('round_id', r.id, 'batches', r.batch_count,
                            'effective_establishment_count', r.effective_establishment_count,
                            'effective_legal_unit_count', r.effective_legal_unit_count,
                            'effective_enterprise_count', r.effective_enterprise_count,
                            'effective_power_group_count', r.effective_power_group_count)
    into info
    from register.round as r
   where r.id = v_round.id;
end;
$$;
