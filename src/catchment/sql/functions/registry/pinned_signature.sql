-- pinned_signature: the signature that a registered name resolves to: the former one if that still exists, else the
-- only match; null if there is no match, or several.
create or replace function worker.pinned_signature(
  p_name    text,
  p_before  text
)
  returns text
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_signatures text[] := worker.procedure_signatures(p_name, 2);
begin
  return case when p_before = any (v_signatures) then p_before
              when cardinality(v_signatures) = 1 then v_signatures[1] end;
end;
$$;
