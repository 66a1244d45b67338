-- request_collect: a transaction that logged changes asks for them to be collected, once, as it commits. Asked for at
-- the first change, a merge would keep the pending task locked, and so uncollected, until a long transaction ends.
--
--   reads   register.collect_request
--   writes  register.collect_request
--   session reads register.collect_requested, sets register.collect_requested
create or replace function register.request_collect()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_transaction text := pg_current_xact_id()::text;
begin
  -- The row is taken back with a savepoint, as the task is. The setting is a hint: it saves an attempt to write.
  if current_setting('register.collect_requested', true) = v_transaction
     and exists (select from register.collect_request as c where c.xact = v_transaction::xid8) then
    return null;
  end if;
  insert into register.collect_request default values on conflict do nothing;
  if found then
    perform worker.enqueue('collect_changes');
  end if;
  perform set_config('register.collect_requested', v_transaction, true);
  return null;
end;
$$;
