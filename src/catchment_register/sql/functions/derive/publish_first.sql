-- publish_first: publish into an empty table. Many rows are inserted without its key and indexes, which are created
-- afterwards.
--
--   locks   the published units if there are many, from readers too, until commit
--   returns the number of rows
--   plan    no_jit, build_512
create or replace function register.publish_first(p_round_id bigint)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_small constant bigint := 1048576;
  v_is_large boolean := pg_relation_size('register.statistical_unit_staging') > c_small;
  v_rows     bigint;
begin
  if v_is_large then
    alter table register.statistical_unit_row drop constraint statistical_unit_row_pkey;
    drop index if exists register.statistical_unit_words, register.statistical_unit_facet_dims;
  end if;
  insert into register.statistical_unit_row
  select (register.staged_row(s)).* from register.statistical_unit_staging as s where s.round_id = p_round_id;
  get diagnostics v_rows = row_count;
  if v_is_large then
    alter table register.statistical_unit_row add primary key (unit_type, unit_id, valid_from);
  end if;
  perform register.create_unit_indexes();
  -- The reports come next, and read all of it. Of lists and statistics nobody asks, and to look at them takes most of
  -- the time.
  analyze register.statistical_unit_row (
    unit_type, unit_id, valid_from, valid_until, next_from, is_only, used_for_counting, primary_activity_category_id,
    secondary_activity_category_id, sector_id, legal_form_id, physical_region_id, physical_country_id, unit_size_id,
    status_id, hash_slot);
  return v_rows;
end;
$$;
