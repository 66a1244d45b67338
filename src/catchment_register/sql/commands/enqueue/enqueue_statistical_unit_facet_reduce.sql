-- enqueue_statistical_unit_facet_reduce: request that collected facets be published. Does nothing if no round has
-- collected any.
create or replace function worker.enqueue_statistical_unit_facet_reduce()
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('statistical_unit_facet_reduce');
$$;
