-- note_pace: what one more run of a command says about its handlers. p_pace has for each command how many brief ones in
-- a row it needs until its handlers may share a transaction, and how many it needs after one that was not brief. That
-- grows each time one had to be undone in a batch: a command that is usually brief does not lose its long runs again
-- and again.
create or replace function worker.note_pace(
  p_pace        jsonb,
  p_command     text,
  p_is_brief    boolean,
  p_was_undone  boolean default false
)
  returns jsonb
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  c_first constant integer := 4;
  c_most  constant integer := 1000000;
  v_needs integer := coalesce((p_pace -> p_command ->> 1)::integer, c_first);
  v_left  integer := coalesce((p_pace -> p_command ->> 0)::integer, c_first);
begin
  if p_was_undone then
    v_needs := least(4 * v_needs, c_most);
  end if;
  v_left := case when p_is_brief then greatest(v_left - 1, 0) else v_needs end;
  return p_pace || jsonb_build_object(p_command, jsonb_build_array(v_left, v_needs));
end;
$$;
