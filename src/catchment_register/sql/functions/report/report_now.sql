-- report_now: derive all reports of an open round in this transaction, without tasks, and close the round.
create or replace function register.report_now(p_round_id bigint)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_payload jsonb;
begin
  perform register.begin_reports(p_round_id);
  perform register.collect_cells(p_round_id, 'history', 0, '{[0,16384)}');
  foreach v_payload in array register.plan_periods(p_round_id, 'history') loop
    perform register.stage_history(v_payload);
  end loop;
  perform register.publish_history(p_round_id, 'history');

  foreach v_payload in array register.plan_partitions(p_round_id) loop
    perform register.collect_cells(p_round_id, 'facet', (v_payload ->> 'partition_seq')::integer,
                                   (v_payload ->> 'slots')::int4multirange);
  end loop;
  perform register.publish_unit_facet(p_round_id);
  perform register.fill_history_facet(p_round_id, s.is_rebuild) from register.report_scope(p_round_id, 'facet') as s;
  foreach v_payload in array register.plan_periods(p_round_id, 'facet') loop
    perform register.stage_history_facet(v_payload);
  end loop;
  perform register.publish_history(p_round_id, 'facet');
end;
$$;
