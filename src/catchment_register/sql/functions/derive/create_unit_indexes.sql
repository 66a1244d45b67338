-- create_unit_indexes: create the indexes of published units, except for their key. A first flush drops them and
-- creates them again when all rows are inserted, which takes a fraction of the time.
--
--   plan    build_512
create or replace function register.create_unit_indexes()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Search by words of a name.
  create index if not exists statistical_unit_words
    on register.statistical_unit_row using gin (register.name_words(name))
    where unit_type in ('establishment', 'legal_unit');
  -- Units of a facet: what is left of it when its largest or smallest goes; lists by region and activity.
  create index if not exists statistical_unit_facet_dims
    on register.statistical_unit_row (physical_region_id, primary_activity_category_id, unit_type);
end;
$$;
