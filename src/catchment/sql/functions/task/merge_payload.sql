-- merge_payload: combine the payloads of two pending tasks with the same dedup key, key by key.
--
--   union        arrays as sets                       associative, commutative, idempotent
--   range_union  multirange literals                  associative, commutative, idempotent
--   min, max     numbers, or text read as "type"      associative, commutative, idempotent
--   add          numbers                              associative, commutative
--   last         the newer value (the default)        associative, idempotent
--
-- A rule is its name, or {"op": name, "type": …}. A missing key is nothing and gives way; a JSON null stands for "no
-- limit" and absorbs (except under last).
create or replace function worker.merge_payload(
  p_rules  jsonb,
  p_old    jsonb,
  p_new    jsonb
)
  returns jsonb
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_merged jsonb := p_old;
  v_key    text;
  v_new    jsonb;
begin
  for v_key, v_new in select key, value from jsonb_each(p_new) loop
    if p_old ? v_key then
      v_new := worker.merge_value(v_key, p_rules -> v_key, p_old -> v_key, v_new);
    end if;
    v_merged := v_merged || jsonb_build_object(v_key, v_new);
  end loop;
  return v_merged;
end;
$$;
