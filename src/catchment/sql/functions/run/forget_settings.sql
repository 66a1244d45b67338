-- forget_settings: reset what a handler or a hook has set in the session of a worker, except the hints of the engine
-- (p_hints, see session_hints). Call it before the commit of that handler, because a setting may affect the next
-- transaction. synchronous_commit stays as the handler set it for that commit.
--
--   session reads p_hints, synchronous_commit, sets all, p_hints, synchronous_commit
create or replace procedure worker.forget_settings(p_hints text[])
  language plpgsql
as $$
declare
  v_kept    pg_catalog.text[];
  v_durable pg_catalog.text := pg_catalog.current_setting('synchronous_commit');
  v_done    pg_catalog.text;
begin
  for i in 1 .. pg_catalog.cardinality(p_hints) loop
    v_kept[i] := pg_catalog.current_setting(p_hints[i], true);
  end loop;
  reset all;
  for i in 1 .. pg_catalog.cardinality(p_hints) loop
    if v_kept[i] is not null then
      v_done := pg_catalog.set_config(p_hints[i], v_kept[i], false);
    end if;
  end loop;
  v_done := pg_catalog.set_config('synchronous_commit', v_durable, true);
end;
$$;
