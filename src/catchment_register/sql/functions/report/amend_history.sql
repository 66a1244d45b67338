-- amend_history: differences that the children have staged are added to a history, and merged moments take the place of
-- the old ones; a row without any unit left goes. Rows are found through the key: the work grows with the change and
-- not with the report.
--
--   raises  RG015 a report does not agree with its units
--   plan    no_jit, indexed, probed
create or replace function register.amend_history(
  p_round_id  bigint,
  p_report    text
)
  returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_name       text := register.history_name(p_report);
  v_is_beyond  boolean;
  v_deleted    integer;
  v_updated    integer;
  v_inserted   integer;
begin
  execute format($sql$
    select exists (
      select from register.statistical_history_staging as s
        left join register.%I_row as p
          on p.facet_key = s.facet_key
         and p.year * 100 + coalesce(p.month, 0) = s.year * 100 + coalesce(s.month, 0)
       where s.round_id = $1
         and (p.unit_count + s.unit_count < 0 or p.facet_key is null and s.unit_count <= 0))
    $sql$, v_name) into v_is_beyond using p_round_id;
  if v_is_beyond then
    raise exception using
      errcode = 'RG015',
      message = format('%s would lose more units than it has: it does not agree with the units it was made from',
                       v_name),
      hint = 'Run: catchment register derive --full';
  end if;
  execute format($sql$
    delete from register.%I_row as p
     using register.statistical_history_staging as s
     where s.round_id = $1
       and p.facet_key = s.facet_key
       and p.year * 100 + coalesce(p.month, 0) = s.year * 100 + coalesce(s.month, 0)
       and p.unit_count + s.unit_count = 0
    $sql$, v_name) using p_round_id;
  get diagnostics v_deleted = row_count;
  execute format($sql$
    update register.%I_row as p
       set unit_count   = p.unit_count + s.unit_count,
           measures     = register.add_measures(p.measures, s.measures),
           moments      = case when s.is_merged then s.merged else p.moments end,
           value_counts = register.merge_counts(p.value_counts, s.value_counts, s.removed_counts)
      from register.statistical_history_staging as s
     where s.round_id = $1
       and p.facet_key = s.facet_key
       and p.year * 100 + coalesce(p.month, 0) = s.year * 100 + coalesce(s.month, 0)
    $sql$, v_name) using p_round_id;
  get diagnostics v_updated = row_count;
  execute format($sql$
    insert into register.%1$I_row
           (resolution, year, month, facet_key, unit_type, primary_activity_category_path,
            secondary_activity_category_path, sector_path, legal_form_id, physical_region_path, physical_country_id,
            unit_size_id, status_id, unit_count, measures, moments, value_counts)
    select s.resolution, s.year, s.month, s.facet_key, s.unit_type, s.primary_activity_category_path,
           s.secondary_activity_category_path, s.sector_path, s.legal_form_id, s.physical_region_path,
           s.physical_country_id, s.unit_size_id, s.status_id, s.unit_count, s.measures, s.merged,
           register.merge_counts(null, s.value_counts, s.removed_counts)
      from register.statistical_history_staging as s
     where s.round_id = $1
       and s.unit_count > 0
       and not exists (
         select from register.%1$I_row as p
          where p.facet_key = s.facet_key
            and p.year * 100 + coalesce(p.month, 0) = s.year * 100 + coalesce(s.month, 0))
    $sql$, v_name) using p_round_id;
  get diagnostics v_inserted = row_count;
  return jsonb_build_object('inserted', v_inserted, 'updated', v_updated, 'deleted', v_deleted);
end;
$$;
