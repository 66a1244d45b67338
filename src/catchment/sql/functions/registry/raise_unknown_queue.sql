-- raise_unknown_queue: refuse a queue that does not exist. The hint names the one that was meant, if a name is close.
--
--   raises  CM003 no such queue is registered
create or replace function worker.raise_unknown_queue(
  p_queue  text,
  p_hint   text default '"catchment queue list" shows all queues.'
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'CM003',
    message = format('unknown queue %L', p_queue),
    hint = coalesce('Did you mean ' || worker.alike(p_queue, array(select q.queue from worker.queue_registry as q))
                      || '?',
                    p_hint);
end;
$$;
