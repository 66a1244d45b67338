-- finish_history_facet: publish the history by facet, take away what was staged for it, and close the round, in one
-- transaction: now everything that the round took has arrived everywhere.
create or replace function register.finish_history_facet(p_round_id bigint)
  returns jsonb
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_info jsonb := register.publish_history_facet(p_round_id);
begin
  perform register.clear_report(p_round_id, 'facet');
  perform register.close_round(p_round_id);
  return v_info;
end;
$$;
