-- interrupt_orphans: interrupt the attempts of worker processes that are not registered any more: claims that committed
-- just as their worker was declared dead. Reads all of running.
--
--   locks   see interrupt_abandoned
create or replace function worker.interrupt_orphans(p_only bigint default null)
  returns integer
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.interrupt_abandoned(array(
    select distinct r.worker_id
      from worker.running as r
     where r.backend_key is null
       and not exists (select from worker.worker as w where w.worker_id = r.worker_id)), p_only);
$$;
