-- delete_unit: delete a unit as if it had never existed: its slices, details, relationships and names, and its
-- enterprise if nothing else belongs to it. A legal unit with establishments stays until those are deleted. Where it
-- was the primary one and one other unit remains, that becomes primary.
--
--   locks   the unit
--   raises  RG003 other rows depend on the row in that period; RG008 the edit is invalid; RG019
--           several units could be the next primary one
create or replace function register.delete_unit(
  p_unit_type  text,
  p_unit_id    integer
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_enterprises integer[];
  v_next        jsonb;
  v_rule        text;
  v_column      text;
begin
  if p_unit_type not in ('legal_unit', 'establishment') then
    perform register.refuse_edit(format('%s is not deleted by itself', replace(p_unit_type, '_', ' ')),
                                 'It goes when nothing belongs to it.');
  end if;
  perform register.unit_times(p_unit_type, p_unit_id, '-infinity', 'infinity');
  perform register.lock_units(case p_unit_type when 'legal_unit' then array[p_unit_id] end,
                              case p_unit_type when 'establishment' then array[p_unit_id] end);
  select array_agg(distinct s.enterprise_id) into v_enterprises
    from (select l.enterprise_id from register.legal_unit as l where p_unit_type = 'legal_unit' and l.id = p_unit_id
          union all
          select e.enterprise_id from register.establishment as e where p_unit_type = 'establishment'
            and e.id = p_unit_id) as s;
  v_next := register.remaining_primaries(p_unit_type, p_unit_id,
                                         datemultirange(daterange('-infinity', 'infinity')));
  perform register.drop_names(p_unit_type || '_id', array[p_unit_id]);
  perform register.cut_details(p_unit_type || '_id', array[p_unit_id]);
  perform register.cut_slices(p_unit_type, 'id', array[p_unit_id]);
  perform register.patch_slices(n.key, 'id', n.value, '{}') from jsonb_each(v_next) as n;
  perform register.drop_empty_enterprises(v_enterprises);
exception when check_violation or not_null_violation or unique_violation or numeric_value_out_of_range then
  get stacked diagnostics v_rule = constraint_name, v_column = column_name;
  perform register.refuse_edit(coalesce(register.refusal_text(v_rule, v_column), sqlerrm));
end;
$$;
