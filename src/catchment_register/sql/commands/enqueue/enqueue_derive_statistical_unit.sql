-- enqueue_derive_statistical_unit: request the derivation of the given units, or of all if none are given. Requests for
-- some units that are pending together become one for all of these units; a request for all is never mixed with them.
-- Units are derived for all of their time.
create or replace function worker.enqueue_derive_statistical_unit(
  p_establishment_ids  int4multirange default null,
  p_legal_unit_ids     int4multirange default null,
  p_enterprise_ids     int4multirange default null,
  p_power_group_ids    int4multirange default null
)
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue(
    'derive_statistical_unit',
    case when num_nonnulls(p_establishment_ids, p_legal_unit_ids, p_enterprise_ids, p_power_group_ids) = 0
         then jsonb_build_object('scope', 'all')
         else jsonb_build_object('scope', 'some')
              || jsonb_strip_nulls(jsonb_build_object('establishment_ids', p_establishment_ids,
                                                      'legal_unit_ids', p_legal_unit_ids,
                                                      'enterprise_ids', p_enterprise_ids,
                                                      'power_group_ids', p_power_group_ids))
    end);
$$;
