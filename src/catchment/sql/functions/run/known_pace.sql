-- known_pace: what this session remembers about its handlers, see note_pace. It is a hint: any other text is nothing.
--
--   session reads worker.pace
create or replace function worker.known_pace()
  returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_pace jsonb;
begin
  v_pace := nullif(current_setting('worker.pace', true), '')::jsonb;
  if (select bool_and((e.value ->> 0)::integer >= 0 and (e.value ->> 1)::integer between 1 and 1000000)
        from jsonb_each(v_pace) as e) then
    return v_pace;
  end if;
  return '{}';
exception
  when data_exception then
    return '{}';
end;
$$;
