-- interrupt_orphans: attempts of worker processes that nobody knows any more: a claim that committed just as its worker was taken
-- for dead. Reads all of running.
--
--   locks   see interrupt_abandoned
create or replace function worker.interrupt_orphans(p_only bigint default null)
  returns integer
  language sql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
  select worker.interrupt_abandoned(array(
    select distinct r.worker_id
      from worker.running as r
     where r.backend_key is null
       and not exists (select from worker.worker as w where w.worker_id = r.worker_id)), p_only);
$$;
