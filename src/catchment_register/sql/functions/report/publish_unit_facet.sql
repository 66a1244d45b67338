-- publish_unit_facet: publish the cells of the round as facets of units. In the same transaction, the report records
-- its progress, and the round that it may continue with their history.
--
--   raises  RG010 staged rows were lost in a crash; RG015 a report does not agree with its units
create or replace function register.publish_unit_facet(p_round_id bigint)
  returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_rebuild  boolean;
  v_after       bigint;
  v_is_one      boolean;
  v_info        jsonb;
begin
  perform register.require_mark(p_round_id);
  perform register.open_report_scratch();
  select s.is_rebuild into strict v_is_rebuild from register.report_scope(p_round_id, 'facet') as s;
  if not v_is_rebuild then
    -- The other report that reads these cells may be further behind than this one.
    select s.applied_flush_id, register.is_one_flush(s.applied_flush_id, r.flush_id) into v_after, v_is_one
      from register.report_state as s
     cross join register.round as r
     where s.report = 'statistical_unit_facet'
       and r.id = p_round_id;
  end if;
  perform register.sum_unit_facets(p_round_id, p_is_lookup => false, p_after => v_after);
  if not v_is_rebuild then
    v_info := register.amend_unit_facet(p_round_id, v_is_one);
  elsif exists (select from register.statistical_unit_facet_row) then
    v_info := register.replace_unit_facet();
  else
    v_info := register.fill_unit_facet();
  end if;
  perform register.note_published(p_round_id, 'statistical_unit_facet');
  update register.round as r set facets_reduced_at = clock_timestamp() where r.id = p_round_id;
  return v_info || jsonb_build_object('rebuilt', v_is_rebuild);
end;
$$;
