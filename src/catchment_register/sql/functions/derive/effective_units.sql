-- effective_units: store the units that the round derives again: changed ones, and those derived from them. Changes
-- propagate upwards only, from establishments to their legal units and enterprises, from legal units to their
-- enterprises and power groups, along the slices of any time. Owners that a unit had before are among what changed. A
-- round of kind all has no bounds.
--
--   plan    no_jit, indexed
create or replace function register.effective_units(p_round_id bigint)
  returns register.round
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round          register.round;
  v_establishments integer[];
  v_legal_units    integer[];
begin
  select r.* into v_round from register.round as r where r.id = p_round_id;
  v_establishments := register.id_array(v_round.establishment_ids);
  v_legal_units := array(select unnest(register.id_array(v_round.legal_unit_ids))
                          union
                         select e.legal_unit_id from register.establishment as e
                          where e.id = any (v_establishments) and e.legal_unit_id is not null);
  update register.round as r
     set effective_establishment_ids = r.establishment_ids,
         effective_legal_unit_ids = register.id_ranges(v_legal_units),
         effective_enterprise_ids = r.enterprise_ids + register.id_ranges(array(
           select u.enterprise_id from register.legal_unit as u where u.id = any (v_legal_units)
            union
           select e.enterprise_id from register.establishment as e
            where e.id = any (v_establishments) and e.enterprise_id is not null)),
         effective_power_group_ids = r.power_group_ids + register.id_ranges(array(
           select g.derived_power_group_id from register.legal_relationship as g
            where g.influencing_id = any (v_legal_units) and g.derived_power_group_id is not null
            union
           select g.derived_power_group_id from register.legal_relationship as g
            where g.influenced_id = any (v_legal_units) and g.derived_power_group_id is not null))
   where r.id = p_round_id
  returning r.* into v_round;
  return v_round;
end;
$$;
