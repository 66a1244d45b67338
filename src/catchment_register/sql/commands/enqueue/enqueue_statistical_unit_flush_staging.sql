-- enqueue_statistical_unit_flush_staging: ask for staged units to be published. Without a round that staged some there
-- is nothing to do.
create or replace function worker.enqueue_statistical_unit_flush_staging()
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('statistical_unit_flush_staging');
$$;
