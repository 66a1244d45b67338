-- want_units: the units that have had a row in one of the facets of the scratch table wanted_facet, into wanted_unit. A
-- path names a region of each version and an activity of each standard that has it; a missing one is a facet too. An
-- index finds the rows by region, activity and type; the other dimensions leave few of them, and all that is done with
-- a unit costs more.
--
--   reads   pg_temp.wanted_facet
--   writes  pg_temp.wanted_unit
--   plan    no_jit, loop_again
create or replace function register.want_units()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from pg_temp.wanted_unit;
  insert into pg_temp.wanted_unit (unit_type, unit_id)
  select r.unit_type, r.unit_id
    from pg_temp.wanted_facet as w
    join register.region as g on g.path = w.physical_region_path
    join register.activity_category as a on a.path = w.primary_activity_category_path
    join register.statistical_unit_row as r
      on r.physical_region_id = g.id and r.primary_activity_category_id = a.id and r.unit_type = w.unit_type
     and r.legal_form_id is not distinct from w.legal_form_id
     and r.physical_country_id is not distinct from w.physical_country_id
     and r.status_id is not distinct from w.status_id
     and (w.is_any_size or r.unit_size_id is not distinct from w.unit_size_id)
  union
  select r.unit_type, r.unit_id
    from pg_temp.wanted_facet as w
    join register.activity_category as a on a.path = w.primary_activity_category_path
    join register.statistical_unit_row as r
      on r.physical_region_id is null and r.primary_activity_category_id = a.id and r.unit_type = w.unit_type
     and r.legal_form_id is not distinct from w.legal_form_id
     and r.physical_country_id is not distinct from w.physical_country_id
     and r.status_id is not distinct from w.status_id
     and (w.is_any_size or r.unit_size_id is not distinct from w.unit_size_id)
   where w.physical_region_path is null
  union
  select r.unit_type, r.unit_id
    from pg_temp.wanted_facet as w
    join register.region as g on g.path = w.physical_region_path
    join register.statistical_unit_row as r
      on r.physical_region_id = g.id and r.primary_activity_category_id is null and r.unit_type = w.unit_type
     and r.legal_form_id is not distinct from w.legal_form_id
     and r.physical_country_id is not distinct from w.physical_country_id
     and r.status_id is not distinct from w.status_id
     and (w.is_any_size or r.unit_size_id is not distinct from w.unit_size_id)
   where w.primary_activity_category_path is null
  union
  select r.unit_type, r.unit_id
    from pg_temp.wanted_facet as w
    join register.statistical_unit_row as r
      on r.physical_region_id is null and r.primary_activity_category_id is null and r.unit_type = w.unit_type
     and r.legal_form_id is not distinct from w.legal_form_id
     and r.physical_country_id is not distinct from w.physical_country_id
     and r.status_id is not distinct from w.status_id
     and (w.is_any_size or r.unit_size_id is not distinct from w.unit_size_id)
   where w.physical_region_path is null
     and w.primary_activity_category_path is null;
end;
$$;
