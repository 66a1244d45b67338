-- open_round: begin a round. What changed is given as ranges of ids; a round of kind all needs none.
--
--   nothing -> open
--   raises  RG014 another round is open
create or replace function register.open_round(
  p_kind               text,
  p_establishment_ids  int4multirange default '{}',
  p_legal_unit_ids     int4multirange default '{}',
  p_enterprise_ids     int4multirange default '{}',
  p_power_group_ids    int4multirange default '{}'
)
  returns register.round
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round register.round;
begin
  insert into register.round (kind, today, establishment_ids, legal_unit_ids, enterprise_ids, power_group_ids)
  values (p_kind, register.today(), coalesce(p_establishment_ids, '{}'), coalesce(p_legal_unit_ids, '{}'),
          coalesce(p_enterprise_ids, '{}'), coalesce(p_power_group_ids, '{}'))
  returning * into v_round;
  return v_round;
exception
  when unique_violation then
    raise exception using
      errcode = 'RG014',
      message = format('round %s is open, so no other can begin',
                       (select r.id from register.round as r where r.state = 'open')),
      hint = 'Wait until it has published; if no task of it is left, register.recover_rounds() gives it back.';
end;
$$;
