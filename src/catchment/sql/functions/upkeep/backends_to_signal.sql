-- backends_to_signal: the sessions that upkeep has to end (step hanging) or to cancel (step signal). A failure is noted
-- as a trouble.
--
--   locks   see lock_signalled
create or replace function worker.backends_to_signal(
  p_step  text,
  p_dead  bigint[]
)
  returns integer[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_sqlstate text;
  v_message  text;
begin
  return case p_step
           when 'hanging' then array(select b from worker.hanging_backends(p_dead) as b)
           else worker.lock_signalled()
         end;
exception
  when others then
    get stacked diagnostics v_sqlstate = returned_sqlstate, v_message = message_text;
    perform worker.note_trouble(p_step, '', v_sqlstate, v_message);
    return '{}';
end;
$$;
