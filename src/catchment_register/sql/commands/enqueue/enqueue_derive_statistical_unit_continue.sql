-- enqueue_derive_statistical_unit_continue: request an update of planner statistics, as between two stages of a round.
create or replace function worker.enqueue_derive_statistical_unit_continue()
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('derive_statistical_unit_continue');
$$;
