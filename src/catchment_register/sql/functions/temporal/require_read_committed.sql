-- require_read_committed: guards take locks and then look again at what has committed meanwhile, which needs a snapshot
-- for each statement.
--
--   raises  RG007 the transaction is not read committed
--   session reads transaction_isolation
create or replace function register.require_read_committed()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using
      errcode = 'RG007',
      message = format('register tables cannot be written in a %s transaction',
                       current_setting('transaction_isolation')),
      hint = 'Use read committed, the default: rules between rows are checked against what others have committed.';
  end if;
end;
$$;
