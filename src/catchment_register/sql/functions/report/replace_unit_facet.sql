-- replace_unit_facet: replace the facets of units by the sums over all units in the scratch table unit_facet_sum: equal
-- rows stay, rows without support are deleted. Always a hash join: the planner may take a table for empty while it is
-- being filled.
--
--   reads   pg_temp.unit_facet_sum
--   plan    no_jit, hashed, memory_128
create or replace function register.replace_unit_facet()
  returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_deleted   integer := 0;
  v_updated   integer := 0;
  v_inserted  integer;
begin
  if exists (select from register.statistical_unit_facet_row) then
    delete from register.statistical_unit_facet_row as p
     where not exists (select from pg_temp.unit_facet_sum as s where s.facet_key = p.facet_key);
    get diagnostics v_deleted = row_count;
    update register.statistical_unit_facet_row as p
       set count = s.count, moments = s.added, value_counts = s.added_counts
      from pg_temp.unit_facet_sum as s
     where s.facet_key = p.facet_key
       and (p.count, p.moments, p.value_counts) is distinct from (s.count, s.added, s.added_counts);
    get diagnostics v_updated = row_count;
  end if;
  insert into register.statistical_unit_facet_row (facet_key, valid_from, valid_until, unit_type, physical_region_path,
                                                   primary_activity_category_path, sector_path, legal_form_id,
                                                   physical_country_id, status_id, count, moments, value_counts)
  select s.facet_key, s.valid_from, s.valid_until, s.unit_type, s.physical_region_path,
         s.primary_activity_category_path, s.sector_path, s.legal_form_id, s.physical_country_id, s.status_id, s.count,
         s.added, s.added_counts
    from pg_temp.unit_facet_sum as s
  on conflict do nothing;
  get diagnostics v_inserted = row_count;
  return jsonb_build_object('inserted', v_inserted, 'updated', v_updated, 'deleted', v_deleted);
end;
$$;
