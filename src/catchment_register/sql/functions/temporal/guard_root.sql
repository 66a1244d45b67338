-- guard_root: require that the root chosen for a power group is one of its legal units, at any time. If it leaves the
-- group later, the round that determines the group again deletes the choice.
--
--   locks   nothing: a changed root is logged with its group, so that a round looks at what was committed meanwhile
--   raises  RG023 the root is not in its power group
--   plan    no_jit, indexed
create or replace function register.guard_root()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong record;
begin
  select c.power_group_id, c.custom_root_legal_unit_id into v_wrong
    from changed as c
   where c.custom_root_legal_unit_id is not null
     and not exists (select from register.legal_relationship as r
                      where r.derived_power_group_id = c.power_group_id
                        and c.custom_root_legal_unit_id in (r.influencing_id, r.influenced_id))
   limit 1;
  if found then
    raise exception using
      errcode = 'RG023',
      message = format('legal unit %s cannot be the root of power group %s: it is not in the group',
                       v_wrong.custom_root_legal_unit_id, v_wrong.power_group_id),
      hint = 'Choose a unit that a relationship of the group names; a new relationship counts when its round is done.';
  end if;
  return null;
end;
$$;
