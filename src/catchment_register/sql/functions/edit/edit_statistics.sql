-- edit_statistics: set or remove values of statistics while the unit exists; returns the remaining changes.
--
--   raises  RG017 the value does not fit its column
create or replace function register.edit_statistics(
  p_unit_type    text,
  p_unit_id      integer,
  p_changes      jsonb,
  p_valid_from   date,
  p_valid_until  date,
  p_comment      text
)
  returns jsonb
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_owner text := p_unit_type || '_id';
  v_stat  record;
begin
  for v_stat in
    select d.id, d.code, d.type, c.value as text, register.parse_stat(d.type, c.value) as value
      from jsonb_each_text(p_changes) as c
      join register.stat_definition as d on d.code = c.key and d.enabled
     order by d.priority
  loop
    p_changes := p_changes - v_stat.code;
    if v_stat.text = '' then
      perform register.cut_slices('stat_for_unit', v_owner, array[p_unit_id], p_valid_from, p_valid_until,
                                  jsonb_build_object('stat_definition_id', v_stat.id));
    elsif v_stat.value is null then
      perform register.refuse_edit(format('%s = %s is not a value of type %s', v_stat.code, v_stat.text, v_stat.type),
                                   p_code => 'RG017');
    else
      perform register.patch_slices('stat_for_unit', v_owner,
        (select jsonb_agg(jsonb_build_object(v_owner, p_unit_id, 'stat_definition_id', v_stat.id,
                                             'valid_from', lower(t), 'valid_until', coalesce(upper(t), 'infinity')))
           from unnest(register.unit_times(p_unit_type, p_unit_id, p_valid_from, p_valid_until)) as t),
        jsonb_build_object('value_' || v_stat.type, v_stat.value), p_comment => p_comment);
    end if;
  end loop;
  return p_changes;
end;
$$;
