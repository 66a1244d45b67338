-- call_text: the CALL for a registered procedure, names quoted; null if no procedure, or more than one, matches. With
-- p_args 1 it must take (jsonb); with 2 it may also take (jsonb, inout jsonb).
create or replace function worker.call_text(
  p_name  text,
  p_args  integer
)
  returns text
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_signatures text[] := worker.procedure_signatures(p_name, p_args);
begin
  return case when cardinality(v_signatures) = 1 then worker.call_of(v_signatures[1]) end;
end;
$$;
