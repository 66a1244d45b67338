-- delete_empty_groups: power groups that no relationship names any more, with their roots. One with an identifier, a
-- tag or a note from a user stays, without units.
--
--   plan    no_jit
create or replace function register.delete_empty_groups(p_power_group_ids integer[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_empty integer[] := array(select g from unnest(p_power_group_ids) as g
                              where not exists (select from register.legal_relationship as r
                                                 where r.derived_power_group_id = g));
begin
  delete from register.power_root as p where p.power_group_id = any (v_empty);
  delete from register.power_group as g
   where g.id = any (v_empty)
     and not exists (select from register.external_ident as i
                      where i.legal_unit_id is null and i.establishment_id is null and i.power_group_id = g.id)
     and not exists (select from register.tag_for_unit as t
                      where t.legal_unit_id is null and t.establishment_id is null and t.power_group_id = g.id)
     and not exists (select from register.unit_notes as n
                      where n.legal_unit_id is null and n.establishment_id is null and n.power_group_id = g.id);
end;
$$;
