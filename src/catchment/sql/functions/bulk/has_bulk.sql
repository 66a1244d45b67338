-- has_bulk: is there a bulk, or a batch of one, that can start? Every worker serves the queue of bulks while there is.
create or replace function worker.has_bulk()
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select
                   from worker.queue_registry as q
                   join worker.ready as r on r.queue_id = q.queue_id
                  where q.queue = 'bulk_changes');
$$;
