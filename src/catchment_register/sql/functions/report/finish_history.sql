-- finish_history: publish the history and take away what was staged for it.
create or replace function register.finish_history(p_round_id bigint)
  returns jsonb
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_info jsonb := register.publish_history(p_round_id);
begin
  perform register.clear_report(p_round_id, 'history');
  return v_info;
end;
$$;
