-- has_suspects: whether a worker was seen without its lock. It is dead if it has not taken it again within the
-- grace: see mark_dead_workers.
create or replace function worker.has_suspects()
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select from worker.worker as w where w.lock_lost_at is not null);
$$;
