-- derive_statistical_unit_facet: children that collect the cells of facets, by slots, or a single part of them here.
-- Asked for by hand, it begins with derive_reports.
--
--   children  derive_statistical_unit_facet_partition
--   follows with statistical_unit_facet_reduce, then derive_statistical_history_facet
--   plan    no_jit
create or replace procedure register.derive_statistical_unit_facet(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round     register.round;
  v_payloads  jsonb[];
begin
  if register.starts_reports(payload) then
    return;
  end if;
  v_round := register.enter_stage(payload, 'derive_statistical_unit_facet');
  v_payloads := register.plan_partitions(v_round.id);
  if cardinality(v_payloads) = 1 then
    perform register.collect_cells(v_round.id, 'facet', (v_payloads[1] ->> 'partition_seq')::integer,
                                   (v_payloads[1] ->> 'slots')::int4multirange);
  else
    perform worker.spawn_many('derive_statistical_unit_facet_partition', v_payloads);
  end if;
  perform worker.follow_up('statistical_unit_facet_reduce', jsonb_build_object('round_id', v_round.id));
  perform worker.follow_up('derive_statistical_history_facet', jsonb_build_object('round_id', v_round.id));
  info := jsonb_build_object('children', cardinality(v_payloads));
end;
$$;
