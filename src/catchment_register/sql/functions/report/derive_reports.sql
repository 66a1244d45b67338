-- derive_reports: begin the reports of the round.
--
--   follows with derive_statistical_history
--   raises  RG009 the round is not open, or not at this stage
--   plan    no_jit
create or replace procedure register.derive_reports(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round register.round := register.enter_stage(payload, 'derive_reports');
begin
  perform register.begin_reports(v_round.id);
  perform worker.follow_up('derive_statistical_history', jsonb_build_object('round_id', v_round.id));
  info := jsonb_build_object('rebuilt', (select array_agg(s.report order by s.report)
                                           from register.report_state as s
                                          where s.applied_flush_id is null));
end;
$$;
