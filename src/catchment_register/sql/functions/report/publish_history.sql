-- publish_history: what the children have staged becomes the history; the report says in the same transaction how far it is.
--
--   raises  RG009 when more units would be lost than there are; RG010 when what was staged was lost in a crash
create or replace function register.publish_history(p_round_id bigint)
  returns jsonb
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_rebuild  boolean;
  v_is_one      boolean;
  v_info        jsonb;
begin
  perform register.require_mark(p_round_id);
  perform register.open_report_scratch();
  select s.is_rebuild, register.is_one_flush(s.from_flush, s.to_flush) into strict v_is_rebuild, v_is_one
    from register.report_scope(p_round_id, 'history') as s;
  v_info := case when v_is_rebuild then register.replace_history(p_round_id)
                 else register.amend_history(p_round_id, v_is_one) end;
  perform register.note_published(p_round_id, 'statistical_history');
  return v_info || jsonb_build_object('rebuilt', v_is_rebuild);
end;
$$;
