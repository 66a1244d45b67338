-- edit_slices: change columns of a unit, or of its details of one type, while the unit exists. A detail without values
-- is deleted.
create or replace function register.edit_slices(
  p_unit_type    text,
  p_unit_id      integer,
  p_table        text,
  p_type         text,
  p_changes      jsonb,
  p_clears       text[],
  p_valid_from   date,
  p_valid_until  date,
  p_comment      text
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_table text := case p_table when 'unit' then p_unit_type else p_table end;
  v_owner text := case p_table when 'unit' then 'id' else p_unit_type || '_id' end;
  v_key   jsonb := jsonb_build_object(v_owner, p_unit_id)
                   || case when p_type is not null then jsonb_build_object('type', p_type)
                                                                  else '{}' end;
  v_times datemultirange := register.unit_times(p_unit_type, p_unit_id, p_valid_from, p_valid_until);
  v_rows  jsonb;
begin
  if p_table = 'unit' and p_clears && array['name', 'status_id'] then
    perform register.refuse_edit('a unit always has a name and a status');
  elsif p_table = 'unit' and p_unit_type = 'establishment' and p_changes ? 'legal_form_id' then
    perform register.refuse_edit('an establishment has no legal form');
  elsif p_table = 'activity' and p_clears <> '{}' then
    perform register.cut_slices(v_table, v_owner, array[p_unit_id], p_valid_from, p_valid_until,
                                jsonb_build_object('type', p_type));
    return;
  end if;
  if p_changes = '{}' and p_table <> 'unit' then
    v_times := v_times * register.detail_times(v_table, v_owner, p_unit_id, p_type, p_clears, p_valid_from,
                                               p_valid_until);
  elsif p_table = 'location' and not p_changes ? 'country_id' then
    p_changes := p_changes || jsonb_build_object(
      'country_id', register.location_country(v_owner, p_unit_id, p_type, p_valid_from));
  end if;
  select jsonb_agg(v_key || jsonb_build_object('valid_from', lower(t), 'valid_until', coalesce(upper(t), 'infinity')))
    into v_rows
    from unnest(v_times) as t;
  if v_rows is not null then
    perform register.patch_slices(v_table, v_owner, v_rows, p_changes, p_comment => p_comment, p_clears => p_clears);
  end if;
end;
$$;
