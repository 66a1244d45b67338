-- publish_history: publish what the children have staged as the history, or the history by facet, and delete it from
-- staging; the report records its progress in the same transaction. The history by facet is the last report, so the
-- round is closed with it.
--
--   raises  RG010 staged rows were lost in a crash; RG015 a report does not agree with its units
create or replace function register.publish_history(
  p_round_id  bigint,
  p_report    text
)
  returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_rebuild  boolean;
  v_info        jsonb;
begin
  perform register.require_mark(p_round_id);
  select s.is_rebuild into strict v_is_rebuild from register.report_scope(p_round_id, p_report) as s;
  if not v_is_rebuild then
    if p_report = 'history' then
      perform register.merge_history(p_round_id, p_report, null);
    end if;
    v_info := register.amend_history(p_round_id, p_report);
  elsif register.is_filled_by(p_round_id, register.history_name(p_report)) then
    perform register.end_fill(register.history_name(p_report));
    v_info := '{}';
  else
    v_info := register.replace_history(p_round_id, p_report);
  end if;
  perform register.note_published(p_round_id, register.history_name(p_report));
  perform register.empty_report_work();
  if p_report = 'facet' then
    delete from register.staging_mark as m where m.round_id = p_round_id;
    perform register.close_round(p_round_id);
  end if;
  return v_info || jsonb_build_object('rebuilt', v_is_rebuild);
end;
$$;
