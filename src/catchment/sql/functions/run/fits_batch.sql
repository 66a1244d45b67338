-- fits_batch: whether a claimed task may run now in the transaction of others: its command allows it and is brief,
-- there is time, nothing has been cancelled meanwhile, and no handler has made temporary tables, which may live as long
-- as a transaction.
create or replace function worker.fits_batch(
  p_is_batched  boolean,
  p_command     text,
  p_pace        jsonb,
  p_ends_at     timestamptz
)
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return p_is_batched
         and worker.is_brief(p_pace, p_command)
         and clock_timestamp() < p_ends_at
         and pg_my_temp_schema() = 0
         and not exists (select from worker.cancel_request);
end;
$$;
