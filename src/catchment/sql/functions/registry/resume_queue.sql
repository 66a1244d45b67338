-- resume_queue: let workers claim on a queue again.
--
--   raises  CM003 no such queue is registered
create or replace function worker.resume_queue(p_queue text)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update worker.queue_registry as q set paused_at = null, paused_until = null, paused_by = null
   where q.queue = p_queue;
  if not found then
    perform worker.raise_unknown_queue(p_queue);
  end if;
end;
$$;
