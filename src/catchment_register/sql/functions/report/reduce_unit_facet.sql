-- reduce_unit_facet: publish the facets of units, and let the round go on to their history.
create or replace function register.reduce_unit_facet(p_round_id bigint)
  returns jsonb
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_info jsonb := register.publish_unit_facet(p_round_id);
begin
  update register.round as r set facets_reduced_at = clock_timestamp() where r.id = p_round_id;
  return v_info;
end;
$$;
