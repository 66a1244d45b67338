-- opens_scope: whether an attempt has made children in this transaction, so that its task will wait for them.
--
--   reads   worker.offspring
create or replace function worker.opens_scope(p_fence bigint)
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select from worker.offspring as o
                  where o.fence = p_fence and o.xact = pg_current_xact_id_if_assigned() and o.child_mode is not null);
$$;
