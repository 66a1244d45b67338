-- enqueue_derive_statistical_history: request the history and the stages after it: all reports are rebuilt.
create or replace function worker.enqueue_derive_statistical_history()
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('derive_statistical_history');
$$;
