-- merge_value: one key of merge_payload.
--
--   raises  CM020 a value does not fit its merge rule
create or replace function worker.merge_value(
  p_key   text,
  p_rule  jsonb,
  p_old   jsonb,
  p_new   jsonb
)
  returns jsonb
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_op    text := case when jsonb_typeof(p_rule) = 'object' then coalesce(p_rule ->> 'op', '')
                       else coalesce(p_rule #>> '{}', 'last')
                  end;
  v_type  text := case when jsonb_typeof(p_rule) = 'object' then p_rule ->> 'type' end;
  v_kinds text[] := array[jsonb_typeof(p_old), jsonb_typeof(p_new)];
  v_old   text := p_old #>> '{}';
  v_new   text := p_new #>> '{}';
begin
  if v_op = 'last' then
    return p_new;
  elsif 'null' = any (v_kinds) then
    return 'null';
  end if;

  case v_op
    when 'union' then
      if v_kinds <> '{array,array}' then
        raise data_exception using message = 'expected two arrays';
      end if;
      return (select coalesce(jsonb_agg(e order by e), '[]')
                from (select distinct e from jsonb_array_elements(p_old || p_new) as e) as elements);
    when 'add' then
      if v_kinds <> '{number,number}' then
        raise data_exception using message = 'expected two numbers';
      end if;
      return to_jsonb(v_old::numeric + v_new::numeric);
    when 'min', 'max' then
      if v_kinds not in ('{number,number}', '{string,string}') then
        raise data_exception using message = 'expected two numbers or two strings';
      elsif v_type not in ('numeric', 'date', 'timestamptz', 'text') then
        raise data_exception using
          message = format('type %s is unknown, expected numeric, date, timestamptz or text', v_type);
      end if;
      if worker.is_before(v_old, v_new, coalesce(v_type, case v_kinds[1] when 'number' then 'numeric' else 'text' end))
         = (v_op = 'min') then
        return p_old;
      end if;
      return p_new;
    when 'range_union' then
      if v_kinds <> '{string,string}' then
        raise data_exception using message = 'expected two strings';
      end if;
      v_old := case when v_old like '{%' then v_old else '{' || v_old || '}' end;
      v_new := case when v_new like '{%' then v_new else '{' || v_new || '}' end;
      case coalesce(v_type, 'int8multirange')
        when 'int8multirange' then return to_jsonb((v_old::int8multirange + v_new::int8multirange)::text);
        when 'nummultirange'  then return to_jsonb((v_old::nummultirange + v_new::nummultirange)::text);
        when 'datemultirange' then return to_jsonb((v_old::datemultirange + v_new::datemultirange)::text);
        when 'tstzmultirange' then return to_jsonb((v_old::tstzmultirange + v_new::tstzmultirange)::text);
      end case;
  end case;
exception
  when data_exception or case_not_found then
    raise exception using
      errcode = 'CM020',
      message = format('payload key %s cannot be merged by %s: %s and %s', p_key, p_rule, left(p_old::text, 80),
                       left(p_new::text, 80)),
      detail = sqlerrm,
      hint = 'Values must fit the rule in worker.command_registry.merge: union, range_union, min, max, add or last.';
end;
$$;
