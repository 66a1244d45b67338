-- called_upon: what the fleet needs of a worker, asked with each heartbeat, so that it need not ask for anything else
-- while it is idle.
--   keeps      it runs upkeep: fewer than two live workers are older, or upkeep is in trouble and all of them help
--   has_ready  tasks are ready on its queues, or bulks, which every worker serves: if it sleeps, a wake-up was lost, or
--              it cannot run them
--   has_top    no live worker runs the top level of one of its serial queues
--
--   plan    probe
create or replace function worker.called_upon(p_worker_id bigint)
  returns table (keeps boolean, has_ready boolean, has_top boolean)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select (select count(*) < 2
            from (select
                    from worker.worker as o
                   where o.worker_id < p_worker_id
                     and o.lease_until > clock_timestamp()
                     and (o.lock_pid is null
                          or exists (select from worker.lock_holders(array[o.lock_key]) as h where h.pid = o.lock_pid))
                   order by o.worker_id
                   limit 2) as older)
         or exists (select from worker.trouble),
         exists (select
                   from worker.queue_registry as q
                 cross join unnest('{s,p}'::"char"[]) as k (kind)
                  where (q.queue = any (case k.kind when 's' then w.queues else w.python_queues end)
                         or q.queue = 'bulk_changes')
                    and (q.paused_at is null or q.paused_until <= worker.now())
                    and exists (select from worker.ready as r where r.queue_id = q.queue_id and r.kind = k.kind)),
         exists (select
                   from worker.queue_registry as q
                   left join worker.top as t on t.queue_id = q.queue_id
                  where q.mode = 'serial'
                    and q.queue = any (w.queues)
                    and exists (select from worker.command_registry as c where c.queue = q.queue
                                   and c.handler_kind = 'sql')
                    and not exists (select from worker.worker as o where o.worker_id = t.worker_id))
    from worker.worker as w
   where w.worker_id = p_worker_id;
$$;
