-- derive_statistical_unit_facet_partition: collect the cells of some slots.
--
--   plan    no_jit
create or replace procedure register.derive_statistical_unit_facet_partition(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round_id bigint := (payload ->> 'round_id')::bigint;
begin
  perform register.require_mark(v_round_id);
  info := jsonb_build_object('cells', register.collect_cells(v_round_id, 'facet',
                                                             (payload ->> 'partition_seq')::integer,
                                                             (payload ->> 'slots')::int4multirange));
  perform register.notify_progress();
end;
$$;
