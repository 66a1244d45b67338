-- stage_batch: write the rows of a batch that are to be published to staging, or in a first fill to the published table
-- itself, which nobody reads before all of it is there. p_with_own: whether establishments and legal units are written
-- too.
--
--   plan    no_jit, generic, hashed, memory_128
create or replace function register.stage_batch(
  p_round      register.round,
  p_batch_seq  integer,
  p_with_own   boolean
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_all         boolean := p_round.kind = 'all';
  -- Copied, so that a stored value is fetched and unpacked once and not for each row.
  v_establishments int4multirange := p_round.effective_establishment_ids + '{}'::int4multirange;
  v_legal_units    int4multirange := p_round.effective_legal_unit_ids + '{}'::int4multirange;
  v_enterprises    int4multirange := p_round.effective_enterprise_ids + '{}'::int4multirange;
  v_groups         int4multirange := p_round.effective_power_group_ids + '{}'::int4multirange;
  v_rows           integer;
begin
  if register.is_filled_by(p_round.id, 'statistical_unit') then
    insert into register.statistical_unit_row
    select b.*
      from register.batch_rows(p_with_own, v_is_all, v_establishments, v_legal_units, v_enterprises, v_groups) as b;
  else
    insert into register.statistical_unit_staging
    select p_round.id, p_batch_seq, b.*
      from register.batch_rows(p_with_own, v_is_all, v_establishments, v_legal_units, v_enterprises, v_groups) as b;
  end if;
  get diagnostics v_rows = row_count;
  return v_rows;
end;
$$;
