-- enqueue_derive_statistical_unit_facet: request the facets of units and the stages after them: all reports are
-- rebuilt.
create or replace function worker.enqueue_derive_statistical_unit_facet()
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('derive_statistical_unit_facet');
$$;
