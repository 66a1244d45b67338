-- publish_history_facet: what the children have staged becomes the history by facet; the report says in the same transaction
-- how far it is.
--
--   raises  RG009 when more units would be lost than there are; RG010 when what was staged was lost in a crash
create or replace function register.publish_history_facet(p_round_id bigint)
  returns jsonb
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_rebuild  boolean;
  v_info        jsonb;
begin
  perform register.require_mark(p_round_id);
  select s.is_rebuild into strict v_is_rebuild from register.report_scope(p_round_id, 'facet') as s;
  if not v_is_rebuild then
    v_info := register.amend_history_facet(p_round_id);
  elsif exists (select from register.statistical_history_facet_row) then
    v_info := register.replace_history_facet(p_round_id);
  else
    v_info := register.fill_history_facet(p_round_id);
  end if;
  perform register.note_published(p_round_id, 'statistical_history_facet');
  return v_info || jsonb_build_object('rebuilt', v_is_rebuild);
end;
$$;
