-- request_collect: a transaction that logged changes asks for them to be collected, once, as it commits. Asked for at the first
-- change, a merge would keep the pending task locked, and so uncollected, until a long transaction ends.
create or replace function register.request_collect()
  returns trigger
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_transaction text := pg_current_xact_id()::text;
begin
  if current_setting('register.collect_requested', true) is distinct from v_transaction then
    perform worker.enqueue('collect_changes');
    -- Taken back with a savepoint, as the task is.
    perform set_config('register.collect_requested', v_transaction, true);
  end if;
  return null;
end;
$$;
