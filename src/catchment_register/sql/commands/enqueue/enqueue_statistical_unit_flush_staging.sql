-- enqueue_statistical_unit_flush_staging: request that staged units be published. Does nothing if no round has staged
-- any.
create or replace function worker.enqueue_statistical_unit_flush_staging()
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('statistical_unit_flush_staging');
$$;
