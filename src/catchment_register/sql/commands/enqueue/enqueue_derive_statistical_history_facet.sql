-- enqueue_derive_statistical_history_facet: request the history by facets: all reports are rebuilt.
create or replace function worker.enqueue_derive_statistical_history_facet()
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('derive_statistical_history_facet');
$$;
