-- statistical_unit_facet_reduce: publish the facets of units when all cells are collected. Does nothing outside a
-- round.
--
--   plan    no_jit
create or replace procedure register.statistical_unit_facet_reduce(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round register.round := register.enter_stage(payload, 'statistical_unit_facet_reduce');
begin
  if v_round.id is null then
    info := '{"skipped": true}';
    return;
  end if;
  info := register.publish_unit_facet(v_round.id);
end;
$$;
