-- replace_history: replace a history by what the children have staged from all units: equal rows stay, rows without
-- support are deleted. Always a hash join: the planner may take a table for empty while it is being filled.
--
--   plan    no_jit, hashed, memory_128
create or replace function register.replace_history(
  p_round_id  bigint,
  p_report    text
)
  returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_name       text := register.history_name(p_report);
  v_is_filled  boolean;
  v_deleted    integer := 0;
  v_updated    integer := 0;
  v_inserted   integer;
begin
  execute format('select exists (select from register.%I_row)', v_name) into v_is_filled;
  if v_is_filled then
    execute format($sql$
      delete from register.%I_row as p
       where not exists (
         select from register.statistical_history_staging as s
          where s.round_id = $1
            and s.facet_key = p.facet_key
            and s.year * 100 + coalesce(s.month, 0) = p.year * 100 + coalesce(p.month, 0))
      $sql$, v_name) using p_round_id;
    get diagnostics v_deleted = row_count;
    execute format($sql$
      update register.%I_row as p
         set unit_count = s.unit_count, measures = s.measures, moments = s.moments, value_counts = s.value_counts
        from register.statistical_history_staging as s
       where s.round_id = $1
         and p.facet_key = s.facet_key
         and p.year * 100 + coalesce(p.month, 0) = s.year * 100 + coalesce(s.month, 0)
         and (p.unit_count, p.measures, p.moments, p.value_counts)
             is distinct from
             (s.unit_count, s.measures, s.moments, s.value_counts)
      $sql$, v_name) using p_round_id;
    get diagnostics v_updated = row_count;
  end if;
  execute format($sql$
    insert into register.%I_row
           (resolution, year, month, facet_key, unit_type, primary_activity_category_path,
            secondary_activity_category_path, sector_path, legal_form_id, physical_region_path, physical_country_id,
            unit_size_id, status_id, unit_count, measures, moments, value_counts)
    select s.resolution, s.year, s.month, s.facet_key, s.unit_type, s.primary_activity_category_path,
           s.secondary_activity_category_path, s.sector_path, s.legal_form_id, s.physical_region_path,
           s.physical_country_id, s.unit_size_id, s.status_id, s.unit_count, s.measures, s.moments, s.value_counts
      from register.statistical_history_staging as s
     where s.round_id = $1
    on conflict do nothing
    $sql$, v_name) using p_round_id;
  get diagnostics v_inserted = row_count;
  return jsonb_build_object('inserted', v_inserted, 'updated', v_updated, 'deleted', v_deleted);
end;
$$;
