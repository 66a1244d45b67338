-- call_text: the CALL for a registered procedure, names quoted, or null when there is none that takes what we pass, or more than
-- one: p_args 1 wants (jsonb); 2 also takes (jsonb, inout jsonb).
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
  v_found text[] := worker.procedure_signatures(p_name, p_args);
begin
  return case when cardinality(v_found) = 1 then worker.call_of(v_found[1]) end;
end;
$$;
