-- relate: add influence of a legal unit on another for a period.
--
--   locks   both units
--   raises  RG002 the unit that the row belongs to does not cover its period; RG004 the code is not in its list; RG005
--           two units are primary at the same time; RG008 the edit is invalid; RG017 the value does not fit its column;
--           RG022 the period is invalid
create or replace function register.relate(
  p_influencing_id  integer,
  p_influenced_id   integer,
  p_type            text,
  p_percentage      numeric default null,
  p_valid_from      date default null,
  p_valid_until     date default 'infinity',
  p_comment         text default null
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule   text;
  v_column text;
begin
  p_valid_from := coalesce(p_valid_from, register.today());
  perform register.require_period(p_valid_from, p_valid_until);
  if not isfinite(p_valid_from) then
    perform register.refuse_edit(format('nothing is valid from %s until %s', p_valid_from, p_valid_until),
                                 'A relationship has a first day.', 'RG022');
  elsif p_influencing_id = p_influenced_id then
    perform register.refuse_edit('a unit cannot influence itself');
  elsif p_percentage is not null and (round(p_percentage, 2) > 0 and round(p_percentage, 2) <= 100) is not true then
    perform register.refuse_edit(format('%s is no percentage: above 0, at most 100, of two decimals', p_percentage),
                                 p_code => 'RG017');
  end if;
  perform register.lock_units(array[p_influencing_id, p_influenced_id], null);
  perform register.patch_slices('legal_relationship', 'influencing_id',
    jsonb_build_array(jsonb_build_object('influencing_id', p_influencing_id, 'influenced_id', p_influenced_id,
                                         'type_id', register.code_id('rel_type', p_type),
                                         'valid_from', p_valid_from, 'valid_until', p_valid_until)),
    jsonb_build_object('percentage', p_percentage), p_comment => p_comment);
exception when check_violation or not_null_violation or unique_violation or numeric_value_out_of_range then
  get stacked diagnostics v_rule = constraint_name, v_column = column_name;
  perform register.refuse_edit(coalesce(register.refusal_text(v_rule, v_column), sqlerrm));
end;
$$;
