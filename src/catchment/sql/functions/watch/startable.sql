-- startable: how many of the ready tasks of a queue claims could start now, p_top of which are of its top level: one at
-- a time of a serial queue, and no more than its limit allows. The others wait: see held_by_queue.
create or replace function worker.startable(
  p_queue  worker.queue_registry,
  p_ready  bigint,
  p_top    bigint
)
  returns bigint
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select least(case
                 when p_queue.mode <> 'serial' then p_ready
                 -- A head that was interrupted is ready again itself.
                 when exists (select
                                from worker.lane as l
                               where l.queue_id = p_queue.queue_id and l.lane = '' and l.head_id is not null
                                 and not exists (select from worker.ready as r where r.id = l.head_id and r.phase = 0))
                   then p_ready - p_top
                 else p_ready - greatest(p_top - 1, 0)
               end, worker.queue_allowance(p_queue));
$$;
