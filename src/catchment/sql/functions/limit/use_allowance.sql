-- use_allowance: record that this number of attempts of a limited queue have started.
create or replace function worker.use_allowance(
  p_queue  worker.queue_registry,
  p_count  integer
)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update worker.queue_meter as m
     set tokens      = worker.refilled(m.tokens, m.refilled_at, worker.now(), p_queue.rate, p_queue.rate_per) - p_count,
         refilled_at = worker.now()
   where m.queue_id = p_queue.queue_id
     and p_queue.rate is not null;
$$;
