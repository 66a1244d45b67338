-- enqueue_statistical_unit_facet_reduce: ask for collected facets to be published. Without a round that collected some
-- there is nothing to do.
create or replace function worker.enqueue_statistical_unit_facet_reduce()
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('statistical_unit_facet_reduce');
$$;
