-- refuse_commit: the transaction that a worker lends to a handler is committed by the worker alone.
--
--   Such a transaction begins by declaring a cursor with hold for a call of this. PostgreSQL fills a held cursor when
--   it commits, so any COMMIT raises, from any caller and in any form, unless the worker closed the cursor right before
--   its own.
--   raises  CM036 a handler cannot end its transaction
create or replace function worker.refuse_commit()
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'CM036',
    message = 'COMMIT in the transaction of a handler, which the worker commits',
    hint    = 'Return from the handler: its writes are then committed together with the end of its task.';
end;
$$;
