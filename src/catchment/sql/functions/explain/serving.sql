-- serving: does a live worker serve this queue, have this command, and take tasks? p_kind is that of the command's
-- handler.
create or replace function worker.serving(
  p_queue    text,
  p_command  text,
  p_kind     "char",
  p_now      timestamptz
)
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select
                   from worker.worker as w
                  where w.lease_until > p_now
                    and w.asked is null
                    and case p_kind
                          when 's' then p_queue = any (w.queues)
                          else p_queue = any (w.python_queues)
                               and (w.python_commands is null or p_command = any (w.python_commands))
                        end);
$$;
