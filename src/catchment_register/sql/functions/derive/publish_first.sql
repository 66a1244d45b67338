-- publish_first: publish into an empty table, or show the one that batches have filled.
--
--   locks   the published units if they were filled, see end_fill
--   returns the number of rows
--   plan    no_jit
create or replace function register.publish_first(p_round_id bigint)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows bigint;
begin
  if register.is_filled_by(p_round_id, 'statistical_unit') then
    v_rows := register.count_staged(p_round_id);
    perform register.end_fill('statistical_unit');
  else
    insert into register.statistical_unit_row
    select (register.staged_row(s)).* from register.statistical_unit_staging as s where s.round_id = p_round_id;
    get diagnostics v_rows = row_count;
    perform register.build_missing_indexes('statistical_unit');
  end if;
  -- The reports come next, and read all of it. Of lists and statistics nobody asks, and to look at them takes most of
  -- the time.
  analyze register.statistical_unit_row (
    unit_type, unit_id, valid_from, valid_until, next_from, is_only, used_for_counting, primary_activity_category_id,
    secondary_activity_category_id, sector_id, legal_form_id, physical_region_id, physical_country_id, unit_size_id,
    status_id, hash_slot);
  return v_rows;
end;
$$;
