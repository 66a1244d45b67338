-- call_text: the CALL for a registered procedure, names quoted, or null when there is none that takes what we pass:
-- p_args 1 wants (jsonb); 2 also takes (jsonb, inout jsonb).
create or replace function worker.call_text(
  p_name  text,
  p_args  integer
)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[];
  v_count integer;
begin
  if p_name is null then
    return null;
  end if;
  v_parts := parse_ident(p_name);
  if cardinality(v_parts) = 1 then
    v_parts := array['public'] || v_parts;
  end if;
  select p.pronargs into v_count
    from pg_proc as p
    join pg_namespace as n on n.oid = p.pronamespace
   where n.nspname = v_parts[1]
     and p.proname = v_parts[2]
     and p.prokind = 'p'
     and p.pronargs <= p_args
     and p.proargtypes::oid[] <@ array['jsonb'::regtype::oid]
     and p.pronargs >= 1
   order by p.pronargs
   limit 1;
  if v_count is null then
    return null;
  end if;
  return format('call %I.%I(%s)', v_parts[1], v_parts[2], case v_count when 1 then '$1' else '$1, $2' end);
exception
  when invalid_parameter_value or syntax_error then
    return null;
end;
$$;
