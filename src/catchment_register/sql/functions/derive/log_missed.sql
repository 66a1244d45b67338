-- log_missed: log again the units of a round that no batch has derived: establishments and legal units whose owner
-- moved, while batches ran, into a batch that was already done. The move is in the log and comes with the next round;
-- what belongs to the unit that moved would not. Where nothing has been logged meanwhile nothing has moved.
--
--   plan    no_jit, memory_256
create or replace function register.log_missed(p_round register.round)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_fills          boolean := register.is_filled_by(p_round.id, 'statistical_unit');
  v_establishments int4multirange;
  v_legal_units    int4multirange;
begin
  if not exists (select from register.base_change_log as b where b.round_id is null) then
    return;
  end if;
  if p_round.kind = 'all' then
    v_establishments := register.id_ranges(array(
      select e.id from register.establishment as e
      except
      select s.unit_id from register.statistical_unit_staging as s
       where s.round_id = p_round.id and s.unit_type = 'establishment'
      except
      select p.unit_id from register.statistical_unit_row as p where v_fills and p.unit_type = 'establishment'));
    v_legal_units := register.id_ranges(array(
      select u.id from register.legal_unit as u
      except
      select s.unit_id from register.statistical_unit_staging as s
       where s.round_id = p_round.id and s.unit_type = 'legal_unit'
      except
      select p.unit_id from register.statistical_unit_row as p where v_fills and p.unit_type = 'legal_unit'));
  else
    select p_round.effective_establishment_ids - coalesce(range_agg(b.establishment_ids), '{}'),
           p_round.effective_legal_unit_ids - coalesce(range_agg(b.legal_unit_ids), '{}')
      into v_establishments, v_legal_units
      from register.round_batch as b
     where b.round_id = p_round.id
       and b.stage = 'units';
  end if;
  perform register.log_change(p_establishment_ids => nullif(v_establishments, '{}'),
                              p_legal_unit_ids    => nullif(v_legal_units, '{}'));
end;
$$;
