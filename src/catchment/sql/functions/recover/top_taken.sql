-- top_taken: the first of these queues whose top level another live worker runs; null if there is none. For a worker
-- without its lock the grace of mark_dead_workers applies.
--
--   locks   worker rows that are free
create or replace function worker.top_taken(
  p_worker_id  bigint,
  p_queues     integer[]
)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_owners bigint[] := array(select distinct t.worker_id
                               from worker.top as t
                              where t.queue_id = any (p_queues)
                                and t.worker_id <> p_worker_id);
  v_dead   bigint[];
begin
  if v_owners = '{}' then
    return null;
  end if;
  v_dead := worker.mark_dead_workers(p_only => v_owners);
  return (select q.queue
            from worker.top as t
            join worker.worker as w on w.worker_id = t.worker_id
            join worker.queue_registry as q on q.queue_id = t.queue_id
           where t.queue_id = any (p_queues)
             and t.worker_id <> p_worker_id
             and t.worker_id <> all (v_dead)
           order by q.queue
           limit 1);
end;
$$;
