-- fill_unit_facet: the first facets of units, from the scratch table unit_facet_sum into an empty table. Its key and index are made
-- when the rows are in, which takes a fraction of the time.
--
--   locks   access exclusive on the table
create or replace function register.fill_unit_facet()
  returns jsonb
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set maintenance_work_mem = '256MB'
as $$
declare
  v_inserted integer;
begin
  alter table register.statistical_unit_facet_row drop constraint statistical_unit_facet_row_pkey;
  drop index register.statistical_unit_facet_valid;
  insert into register.statistical_unit_facet_row (facet_key, valid_from, valid_until, unit_type, physical_region_path,
                                                   primary_activity_category_path, sector_path, legal_form_id,
                                                   physical_country_id, status_id, count, moments, value_counts)
  select s.facet_key, s.valid_from, s.valid_until, s.unit_type, s.physical_region_path, s.primary_activity_category_path,
         s.sector_path, s.legal_form_id, s.physical_country_id, s.status_id, s.count, s.added, s.added_counts
    from unit_facet_sum as s;
  get diagnostics v_inserted = row_count;
  alter table register.statistical_unit_facet_row add primary key (facet_key);
  create index statistical_unit_facet_valid on register.statistical_unit_facet_row (valid_from, valid_until);
  return jsonb_build_object('inserted', v_inserted, 'updated', 0, 'deleted', 0);
end;
$$;
