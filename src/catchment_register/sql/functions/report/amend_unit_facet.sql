-- amend_unit_facet: the differences that are summed up in the scratch table unit_facet_sum are added to the facets of
-- units; a row that counts nothing goes. Rows are found through the key: the work grows with the change and not with
-- the report.
--
--   raises  RG015 a report does not agree with its units
--   reads   pg_temp.moment_merged, pg_temp.unit_facet_sum
--   writes  pg_temp.moment_merge, pg_temp.unit_facet_sum
--   plan    no_jit, indexed, probed
create or replace function register.amend_unit_facet(
  p_round_id      bigint,
  p_is_one_flush  boolean
)
  returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_deleted   integer;
  v_updated   integer;
  v_inserted  integer;
begin
  if exists (
    select from pg_temp.unit_facet_sum as s
      left join register.statistical_unit_facet_row as p using (facet_key)
     where p.count + s.count < 0
        or p.facet_key is null and (s.count < 0 or s.count = 0 and s.added is distinct from s.removed)
  ) then
    raise exception using
      errcode = 'RG015',
      message = 'statistical_unit_facet would lose more units than it has: it does not agree with the units it was '
                'made from',
      hint = 'Run: catchment register derive --full';
  end if;
  delete from pg_temp.moment_merge;
  insert into pg_temp.moment_merge (facet_key, period_key, old, added, removed)
  select s.facet_key, 0, p.moments, s.added, s.removed
    from pg_temp.unit_facet_sum as s
    left join register.statistical_unit_facet_row as p using (facet_key)
   where s.added is distinct from s.removed;
  perform register.merge_moments(p_is_part => p_is_one_flush);
  perform register.look_up_unit_facet_extremes(p_round_id);
  perform register.close_moments();
  delete from pg_temp.unit_facet_sum as s where s.is_lookup;

  delete from register.statistical_unit_facet_row as p
   using pg_temp.unit_facet_sum as s
   where s.facet_key = p.facet_key
     and p.count + s.count = 0;
  get diagnostics v_deleted = row_count;
  update register.statistical_unit_facet_row as p
     set count        = p.count + s.count,
         moments      = case when m.facet_key is null then p.moments else m.moments end,
         value_counts = register.merge_counts(p.value_counts, s.added_counts, s.removed_counts)
    from pg_temp.unit_facet_sum as s
    left join pg_temp.moment_merged as m using (facet_key)
   where s.facet_key = p.facet_key
     and (s.count <> 0 or m.facet_key is not null or s.added_counts is distinct from s.removed_counts);
  get diagnostics v_updated = row_count;

  insert into register.statistical_unit_facet_row (facet_key, valid_from, valid_until, unit_type, physical_region_path,
                                                   primary_activity_category_path, sector_path, legal_form_id,
                                                   physical_country_id, status_id, count, moments, value_counts)
  select s.facet_key, s.valid_from, s.valid_until, s.unit_type, s.physical_region_path,
         s.primary_activity_category_path, s.sector_path, s.legal_form_id, s.physical_country_id, s.status_id, s.count,
         m.moments, register.merge_counts(null, s.added_counts, s.removed_counts)
    from pg_temp.unit_facet_sum as s
    left join pg_temp.moment_merged as m using (facet_key)
   where s.count > 0
     and not exists (select from register.statistical_unit_facet_row as p where p.facet_key = s.facet_key);
  get diagnostics v_inserted = row_count;
  return jsonb_build_object('inserted', v_inserted, 'updated', v_updated, 'deleted', v_deleted);
end;
$$;
