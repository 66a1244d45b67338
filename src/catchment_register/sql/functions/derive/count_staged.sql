-- count_staged: the number of rows that the batches of a round have staged, or written to the table that they fill.
--
--   raises  RG010 staged rows were lost in a crash
create or replace function register.count_staged(p_round_id bigint)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_staged bigint;
  v_noted  bigint := (select coalesce(sum(b.staged_rows), 0) from register.round_batch as b
                       where b.round_id = p_round_id and b.stage = 'units');
begin
  -- What is not unlogged is not lost.
  if register.is_filled_by(p_round_id, 'statistical_unit') then
    return v_noted;
  end if;
  select count(*) into v_staged from register.statistical_unit_staging as s where s.round_id = p_round_id;
  if v_staged <> v_noted then
    raise exception using
      errcode = 'RG010',
      message = format('round %s staged %s rows of units, %s are there', p_round_id, v_noted, v_staged),
      hint = 'The server crashed meanwhile. Nothing is lost: the changes are collected again.';
  end if;
  return v_staged;
end;
$$;
