-- merge_value: one key of merge_payload.
--
--   raises  CM004 when a value does not fit its rule
create or replace function worker.merge_value(
  p_key   text,
  p_rule  jsonb,
  p_old   jsonb,
  p_new   jsonb
)
  returns jsonb
  language plpgsql
  immutable
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_op   text := coalesce(case when jsonb_typeof(p_rule) = 'object' then p_rule ->> 'op' else p_rule #>> '{}' end, 'last');
  v_type text := case when jsonb_typeof(p_rule) = 'object' then p_rule ->> 'type' end;
  v_old  text := p_old #>> '{}';
  v_new  text := p_new #>> '{}';
begin
  if v_op = 'last' then
    return p_new;
  elsif jsonb_typeof(p_old) = 'null' or jsonb_typeof(p_new) = 'null' then
    return 'null';
  end if;

  case v_op
    when 'union' then
      return (select coalesce(jsonb_agg(e order by e), '[]')
                from (select distinct e from jsonb_array_elements(p_old || p_new) as e) as elements);
    when 'add' then
      return to_jsonb(v_old::numeric + v_new::numeric);
    when 'min', 'max' then
      if worker.is_before(v_old, v_new, coalesce(v_type, jsonb_typeof(p_old))) = (v_op = 'min') then
        return p_old;
      end if;
      return p_new;
    when 'range_union' then
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
  when data_exception or invalid_parameter_value or undefined_function or case_not_found then
    raise exception using
      errcode = 'CM004',
      message = format('payload key %s cannot be merged by %s: %s and %s', p_key, p_rule, left(p_old::text, 80), left(p_new::text, 80)),
      detail = sqlerrm,
      hint = 'Values must fit the rule in worker.command_registry.merge: union, range_union, min, max, add or last.';
end;
$$;
