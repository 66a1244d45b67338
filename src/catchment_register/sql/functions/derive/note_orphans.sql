-- note_orphans: write as batch 0 which effective units of a round are no longer in the base tables.
--
--   returns the power groups that are
--   plan    no_jit, indexed
create or replace function register.note_orphans(p_round register.round)
  returns integer[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_establishments integer[] := register.id_array(p_round.effective_establishment_ids);
  v_legal_units    integer[] := register.id_array(p_round.effective_legal_unit_ids);
  v_enterprises    integer[] := register.id_array(p_round.effective_enterprise_ids);
  v_groups         integer[] := register.id_array(p_round.effective_power_group_ids);
  v_there          integer[] := array(select g.id from register.power_group as g where g.id = any (v_groups));
begin
  insert into register.round_batch (round_id, stage, batch_seq, staged_rows, establishment_ids, legal_unit_ids,
                                    enterprise_ids, power_group_ids)
  values (p_round.id, 'units', 0, 0,
          p_round.effective_establishment_ids - register.id_ranges(array(
            select e.id from register.establishment as e where e.id = any (v_establishments))),
          p_round.effective_legal_unit_ids - register.id_ranges(array(
            select u.id from register.legal_unit as u where u.id = any (v_legal_units))),
          p_round.effective_enterprise_ids - register.id_ranges(array(
            select e.id from register.enterprise as e where e.id = any (v_enterprises))),
          p_round.effective_power_group_ids - register.id_ranges(v_there));
  return v_there;
end;
$$;
