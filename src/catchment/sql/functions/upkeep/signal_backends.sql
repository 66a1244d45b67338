-- signal_backends: end these backends (step hanging), or cancel their statements (step signal). One that may not be
-- signalled is noted as a trouble, and the others are signalled. Troubles noted before p_since are forgotten. Runs with
-- the caller's rights, which must allow signalling.
create or replace function worker.signal_backends(
  p_step   text,
  p_pids   integer[],
  p_since  timestamptz
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_wait     bigint;
  v_pid      integer;
  v_sqlstate text;
  v_message  text;
begin
  -- All are asked to end before the first is waited for.
  foreach v_wait in array case p_step when 'hanging' then array[0, 5000] else array[0] end loop
    foreach v_pid in array p_pids loop
      begin
        if p_step = 'hanging' then
          perform pg_terminate_backend(v_pid, v_wait);
        else
          perform pg_cancel_backend(v_pid);
        end if;
      exception
        when others then
          get stacked diagnostics v_sqlstate = returned_sqlstate, v_message = message_text;
          if v_wait = 0 then
            perform worker.note_trouble(p_step, v_pid::text, v_sqlstate, v_message);
          end if;
      end;
    end loop;
  end loop;
  perform worker.forget_trouble(p_step, null, p_since);
end;
$$;
