-- request_round: refresh these tables now, and the dynamic tables they read, as of the newest snapshot.
--
--   returns the round
create or replace function lake.request_round(
  p_tables   bigint[],
  p_trigger  text default 'manual'
)
  returns bigint
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_data_at  timestamptz := worker.now();
  v_round_id bigint;
begin
  v_round_id := lake.open_round(p_trigger, lake.scan_changes(), v_data_at, p_tables);
  perform lake.advance(v_round_id);
  return v_round_id;
end;
$$;
