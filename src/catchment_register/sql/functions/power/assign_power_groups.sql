-- assign_power_groups: determine again the groups of the given legal units, and write them with their relationships. A
-- group keeps its id while it can: one that was split stays with the part that has most of its relationships, groups
-- that were joined continue as the one with most. Groups without relationships are deleted, unless something refers to
-- them. p_power_group_ids: groups that relationships had before they changed.
--
--   returns the groups that were touched
--   locks   the relationships that change, and what the rules on them lock
--   reads   pg_temp.g_component, pg_temp.g_unit
--   plan    no_jit
create or replace function register.assign_power_groups(
  p_legal_unit_ids   int4multirange,
  p_power_group_ids  int4multirange default '{}'
)
  returns int4multirange
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_mine boolean;
  v_groups  int4multirange;
begin
  perform register.reach_relationships(p_legal_unit_ids);
  select p_power_group_ids + coalesce(range_agg(int4range(r.derived_power_group_id, r.derived_power_group_id, '[]')),
                                      '{}')
    into v_groups
    from register.legal_relationship as r
   where r.influencing_id = any (array(select u.unit_id from pg_temp.g_unit as u))
     and r.derived_power_group_id is not null;

  -- What is written here is part of the round that asked for it.
  v_is_mine := register.pause_capture();
  perform register.name_components();
  update register.legal_relationship as r
     set derived_power_group_id = c.power_group_id, derived_influenced_power_level = u.level
    from pg_temp.g_unit as u
    join pg_temp.g_component as c on c.label = u.label
   where r.influenced_id = u.unit_id
     and r.influenced_id = any (array(select g.unit_id from pg_temp.g_unit as g))
     and (r.derived_power_group_id, r.derived_influenced_power_level) is distinct from (c.power_group_id, u.level);
  perform register.choose_power_roots();
  select v_groups + coalesce(range_agg(int4range(c.power_group_id, c.power_group_id, '[]')), '{}') into v_groups
    from pg_temp.g_component as c;
  perform register.delete_empty_groups(register.id_array(v_groups));
  perform register.resume_capture(v_is_mine);
  return v_groups;
end;
$$;
