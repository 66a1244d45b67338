-- procedure_signatures: the signatures of the procedures that match a registered name: those with up to p_args
-- arguments of type jsonb. A name may have a schema (default: public) and arguments: 'app.pack', 'app.pack(jsonb)' or
-- 'app.pack(jsonb, jsonb)'. Schema and types of the signatures are qualified, so that they are unambiguous in any
-- search path.
create or replace function worker.procedure_signatures(
  p_name  text,
  p_args  integer
)
  returns text[]
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  c_written constant text := '^(.*\S)\s*\(\s*(?:inout\s+)?(?:pg_catalog\.)?jsonb\s*'
                             '(?:(,)\s*(?:inout\s+)?(?:pg_catalog\.)?jsonb\s*)?\)\s*$';
  v_written text[] := regexp_match(p_name, c_written, 'i');
  v_parts   text[];
begin
  v_parts := parse_ident(coalesce(v_written[1], p_name));
  if cardinality(v_parts) = 1 then
    v_parts := array['public'] || v_parts;
  end if;
  return array(
    select format('%I.%I(%s)', v_parts[1], v_parts[2],
                  case p.pronargs when 1 then 'pg_catalog.jsonb' else 'pg_catalog.jsonb, pg_catalog.jsonb' end)
      from pg_proc as p
     where p.pronamespace = (select n.oid from pg_namespace as n where n.nspname = v_parts[1])
       and p.proname = v_parts[2]
       and p.prokind = 'p'
       and p.pronargs between 1 and p_args
       and p.proargtypes::oid[] <@ array['jsonb'::regtype::oid]
       and (v_written is null or p.pronargs = case when v_written[2] is null then 1 else 2 end)
     order by p.pronargs);
exception
  when invalid_parameter_value or syntax_error then
    return '{}';
end;
$$;
