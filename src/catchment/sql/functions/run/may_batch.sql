-- may_batch: whether handlers of this session may share transactions at all. Not where one of them could see what the
-- others have done to their transaction: a snapshot for all statements, or constraints whose check can be deferred,
-- which SET CONSTRAINTS changes for the rest of a transaction. The engine's own ones count its late children.
--
--   session reads transaction_isolation
create or replace function worker.may_batch()
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select current_setting('transaction_isolation') = 'read committed'
         and pg_my_temp_schema() = 0
         and not exists (select
                           from pg_trigger as g
                           join pg_class as c on c.oid = g.tgrelid
                          where g.tgdeferrable
                            and c.relnamespace <> 'worker'::regnamespace);
$$;
