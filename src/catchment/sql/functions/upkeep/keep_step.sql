-- keep_step: do a step of upkeep for all that is due; if that fails, item by item. An item that fails is noted and set
-- aside, and the others are done. Waits at most a second for a lock, and 50 ms item by item. Never raises.
--
--   locks   see do_step
--   returns how many items were done
--   session sets lock_timeout
create or replace function worker.keep_step(
  p_step  text,
  p_dead  bigint[] default '{}'
)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s'
as $$
declare
  v_items    text[];
  v_item     text;
  v_done     bigint;
  v_sqlstate text;
  v_message  text;
  v_failed   boolean := false;
begin
  begin
    v_done := worker.do_step(p_step, null, p_dead);
    if exists (select from worker.trouble as t where t.step = p_step and t.item = '') then
      perform worker.forget_trouble(p_step, '');
    end if;
    return v_done;
  exception
    when others then
      get stacked diagnostics v_sqlstate = returned_sqlstate, v_message = message_text;
  end;

  v_done := 0;
  begin
    v_items := worker.step_items(p_step, p_dead);
  exception
    when others then
      v_items := '{}';
  end;
  perform set_config('lock_timeout', '50ms', true);
  foreach v_item in array v_items loop
    begin
      v_done := v_done + coalesce(worker.do_step(p_step, v_item, p_dead), 0);
    exception
      when others then
        v_failed := true;
        get stacked diagnostics v_sqlstate = returned_sqlstate, v_message = message_text;
        perform worker.note_trouble(p_step, v_item, v_sqlstate, v_message);
    end;
  end loop;
  if not v_failed and v_items = '{}' then
    perform worker.note_trouble(p_step, '', v_sqlstate, v_message);
  end if;
  return v_done;
end;
$$;
