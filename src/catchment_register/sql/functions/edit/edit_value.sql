-- edit_value: a value as it was entered, as the column has it. p_kind: date, a name, a coordinate, a list of codes, or
-- null for text. The rules are those of import files.
--
--   raises  RG004 the code is not in its list; RG017 the value does not fit its column
create or replace function register.edit_value(
  p_word  text,
  p_kind  text,
  p_text  text
)
  returns jsonb
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_value jsonb;
  -- After the word.
  v_wrong text;
begin
  case
    when p_kind is null then
      return to_jsonb(p_text);
    when p_kind in ('name', 'short_name') then
      v_value := to_jsonb(p_text);
      v_wrong := register.length_problem(p_text, case p_kind when 'name' then 256 else 16 end);
    when p_kind = 'date' then
      v_value := to_jsonb(nullif(register.parse_date(p_text), 'infinity'));
      v_wrong := case when v_value is null then '= ' || p_text || ' is not a day' end;
    when p_kind in ('latitude', 'longitude', 'altitude') then
      v_value := to_jsonb(register.parse_number(p_text));
      v_wrong := '= ' || register.coordinate_problem(p_kind, p_text);
    else
      return to_jsonb(register.code_id(p_kind, p_text));
  end case;
  if v_wrong is not null then
    perform register.refuse_edit(format('%s %s', p_word, v_wrong), p_code => 'RG017');
  end if;
  return v_value;
end;
$$;
