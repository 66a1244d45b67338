-- edit_value: a value as it was entered, as the column has it. p_kind: date, number, a list of codes, or null
-- for text.
--
--   raises  RG008 when it cannot be that
create or replace function register.edit_value(
  p_word  text,
  p_kind  text,
  p_text  text
)
  returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_value jsonb;
begin
  case
    when p_kind is null then
      return to_jsonb(p_text);
    when p_kind = 'date' then
      v_value := to_jsonb(nullif(register.parse_date(p_text), 'infinity'));
    when p_kind = 'number' then
      v_value := to_jsonb(register.parse_number(p_text));
    else
      return to_jsonb(register.code_id(p_kind, p_text));
  end case;
  if v_value is null then
    perform register.refuse_edit(format('%s = %s is not a %s', p_word, p_text,
                                        case p_kind when 'date' then 'day' else p_kind end));
  end if;
  return v_value;
end;
$$;
