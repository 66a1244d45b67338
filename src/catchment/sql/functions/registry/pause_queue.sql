-- pause_queue: stop claiming on a queue, until a time or until resumed. Running tasks continue. p_by is who asks for
-- it, for people; the login if it is not given.
--
--   raises  CM003 no such queue is registered; CM018 an option has an invalid value
create or replace function worker.pause_queue(
  p_queue  text,
  p_until  timestamptz default null,
  p_by     text default null
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform worker.check_time(p_until, 'paused_until', 'Leave it out to pause the queue until it is resumed.');
  update worker.queue_registry as q
     set paused_at    = worker.now(),
         paused_until = p_until,
         paused_by    = left(coalesce(p_by, session_user), 200)
   where q.queue = p_queue;
  if not found then
    perform worker.raise_unknown_queue(p_queue);
  end if;
end;
$$;
