-- stage_history_facet: some periods of the history by facet, from the cells of the round. p_payload: as plan_periods
-- makes it for a child; share: of all facets the share, from 0 on, in as many equal ones as shares says, by their key,
-- which is as good as random. Made from changes, a row holds differences, and the moments as they will be. In a first
-- fill, rows go to the published table itself.
--
--   raises  RG010 staged rows were lost in a crash
--   plan    no_jit, unmerged, unsorted, memory_128
create or replace function register.stage_history_facet(p_payload jsonb)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round_id    bigint := (p_payload ->> 'round_id')::bigint;
  v_batch_seq   integer := (p_payload ->> 'batch_seq')::integer;
  v_periods     register.period[] := register.named_periods(
                                       array(select jsonb_array_elements_text(p_payload -> 'periods')));
  v_share       integer := coalesce((p_payload ->> 'share')::integer, 0);
  v_shares      integer := coalesce((p_payload ->> 'shares')::integer, 1);
  v_first       uuid := rpad(lpad(to_hex(65536 * v_share / v_shares), 4, '0'), 32, '0');
  v_last        uuid := rpad(lpad(to_hex(65536 * (v_share + 1) / v_shares - 1), 4, '0'), 32, 'f');
  v_is_rebuild  boolean;
  v_count       integer;
begin
  perform register.require_mark(v_round_id);
  select s.is_rebuild into strict v_is_rebuild from register.report_scope(v_round_id, 'facet') as s;

  if register.is_filled_by(v_round_id, 'statistical_history_facet') then
    insert into register.statistical_history_facet_row
           (resolution, year, month, facet_key, unit_type, primary_activity_category_path,
            secondary_activity_category_path, sector_path, legal_form_id, physical_region_path, physical_country_id,
            unit_size_id, status_id, unit_count, measures, moments, value_counts)
    select c.resolution, c.year, c.month, c.facet_key, c.unit_type, c.primary_activity_category_path,
           c.secondary_activity_category_path, c.sector_path, c.legal_form_id, c.physical_region_path,
           c.physical_country_id, c.unit_size_id, c.status_id, c.unit_count, c.measures, c.added, c.added_counts
      from register.history_sums(v_round_id, 'facet', v_periods) as c
     where c.facet_key between v_first and v_last;
    get diagnostics v_count = row_count;
    return v_count;
  end if;

  insert into register.statistical_history_staging
         (round_id, batch_seq, resolution, year, month, facet_key, unit_type, primary_activity_category_path,
          secondary_activity_category_path, sector_path, legal_form_id, physical_region_path, physical_country_id,
          unit_size_id, status_id, unit_count, measures, moments, value_counts, removed, removed_counts)
  select v_round_id, v_batch_seq, c.resolution, c.year, c.month, c.facet_key, c.unit_type,
         c.primary_activity_category_path, c.secondary_activity_category_path, c.sector_path, c.legal_form_id,
         c.physical_region_path, c.physical_country_id, c.unit_size_id, c.status_id, c.unit_count, c.measures, c.added,
         c.added_counts, c.removed, c.removed_counts
    from register.history_sums(v_round_id, 'facet', v_periods) as c
   where c.facet_key between v_first and v_last
     -- A difference of nothing need not be published.
     and (v_is_rebuild
          or c.unit_count <> 0
          or not register.is_zero(c.measures)
          or c.added is distinct from c.removed
          or c.added_counts is distinct from c.removed_counts);
  get diagnostics v_count = row_count;
  if not v_is_rebuild then
    perform register.merge_history(v_round_id, 'facet', v_batch_seq);
  end if;
  return v_count;
end;
$$;
