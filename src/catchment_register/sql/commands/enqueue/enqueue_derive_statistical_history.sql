-- enqueue_derive_statistical_history: ask for the history, and what follows it: all reports are rebuilt.
create or replace function worker.enqueue_derive_statistical_history()
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('derive_statistical_history');
$$;
