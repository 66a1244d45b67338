-- refresh_batch: derive the units of one batch and stage them: connected enterprises with all that belongs to them, or
-- power groups. The legal units of power groups are derived along, but staged by the batch of their enterprise.
--
--   returns the number of staged rows
--   raises  RG009 the round is not open, or not at this stage
--   reads   pg_temp.b_slice
create or replace function register.refresh_batch(
  p_round_id         bigint,
  p_batch_seq        integer,
  p_enterprise_ids   int4multirange,
  p_power_group_ids  int4multirange
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round       register.round;
  v_enterprises integer[] := register.id_array(p_enterprise_ids);
  v_groups      integer[] := register.id_array(p_power_group_ids);
  v_is_groups   boolean := v_groups <> '{}';
  v_rows        integer;
begin
  select r.* into v_round from register.round as r where r.id = p_round_id and r.state = 'open';
  if not found then
    raise exception using
      errcode = 'RG009',
      message = format('batch %s cannot be derived: round %s is not open', p_batch_seq, p_round_id),
      hint = 'Nothing is lost: its changes are collected again.';
  end if;
  perform register.open_scratch();
  perform register.load_batch(v_enterprises,
                              case when v_is_groups then register.load_groups(v_groups)
                                   else register.legal_units_of(v_enterprises) end);
  perform register.segment_own();
  perform register.own_rows();
  perform register.lift();
  perform register.legal_unit_rows();
  if v_is_groups then
    perform register.power_group_rows(v_groups);
  else
    perform register.enterprise_rows(v_enterprises);
  end if;
  v_rows := register.stage_batch(v_round, p_batch_seq, not v_is_groups);

  insert into register.round_batch (round_id, stage, batch_seq, staged_rows, establishment_ids, legal_unit_ids,
                                    enterprise_ids, power_group_ids)
  select p_round_id, 'units', p_batch_seq, v_rows,
         case when not v_is_groups then s.establishment_ids * v_round.effective_establishment_ids end,
         case when not v_is_groups then s.legal_unit_ids * v_round.effective_legal_unit_ids end,
         p_enterprise_ids * v_round.effective_enterprise_ids,
         p_power_group_ids * v_round.effective_power_group_ids
    from (select range_agg(int4range(b.unit_id, b.unit_id, '[]')) filter (where b.unit_type = 'establishment')
                   as establishment_ids,
                 range_agg(int4range(b.unit_id, b.unit_id, '[]'))
                 filter (where b.unit_type = 'legal_unit') as legal_unit_ids
            from pg_temp.b_slice as b
           where v_round.kind <> 'all') as s;
  return v_rows;
end;
$$;
