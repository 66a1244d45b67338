-- run_batched: call the handler of one task of a batch, in a separate subtransaction. Its task is settled later, with
-- the others. What the handler has done stays only where nothing of the batch can have changed it. p_is_clean: this
-- transaction has no effects of another handler yet, so the handler finds what it would find alone, and its error is
-- its own. Else it waits for locks no longer than p_patience (p_lock_timeout is that or less), with those of its
-- neighbours in hand; it may have caught that error, so one that took as long is undone too, whatever it returned. And
-- so is one that has made its transaction read only, in which it could not be settled alone.
--
--   p_state completed, failed, snoozed; alone: undone, to be run again by itself
--   session reads transaction_read_only, sets lock_timeout
create or replace procedure worker.run_batched(
  p_run           worker.sql_run,
  p_is_clean      boolean,
  p_patience      interval,
  p_lock_timeout  text,
  inout p_state text,
  inout p_error jsonb,
  inout p_info  jsonb,
  inout p_took  interval
)
  language plpgsql
as $$
declare
  v_start    pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_done     pg_catalog.text;
  v_sqlstate pg_catalog.text;
  v_message  pg_catalog.text;
  v_detail   pg_catalog.text;
  v_hint     pg_catalog.text;
  v_context  pg_catalog.text;
begin
  if not p_is_clean then
    v_done := pg_catalog.set_config('lock_timeout', p_lock_timeout, true);
  end if;
  call worker.call_handler(p_run, p_info);
  p_took := pg_catalog.clock_timestamp() operator(pg_catalog.-) v_start;
  if (not p_is_clean and p_took operator(pg_catalog.>=) p_patience)
     or pg_catalog.current_setting('transaction_read_only')::boolean then
    raise exception using errcode := 'CM000';
  end if;
  p_state := 'completed';
  p_error := null;
exception
  when query_canceled or assert_failure or others then
    get stacked diagnostics v_sqlstate = returned_sqlstate, v_message = message_text,
                            v_detail = pg_exception_detail, v_hint = pg_exception_hint,
                            v_context = pg_exception_context;
    p_took := pg_catalog.clock_timestamp() operator(pg_catalog.-) v_start;
    p_info := null;
    p_error := worker.sql_error(v_sqlstate, v_message, v_detail, v_hint, v_context);
    p_state := case
                 -- A cancel may have been meant for a neighbour; deadlocks are tried again with pauses.
                 when v_sqlstate operator(pg_catalog.=) any (array['57014', '40001', '40P01', 'CM000']) then 'alone'
                 when not p_is_clean and p_took operator(pg_catalog.>=) p_patience then 'alone'
                 when v_sqlstate operator(pg_catalog.=) 'CM041' then 'snoozed'
                 when p_is_clean then 'failed'
                 else 'alone'
               end;
    if p_state operator(pg_catalog.=) 'snoozed' then
      p_error := worker.snooze_request(p_error);
    end if;
end;
$$;
