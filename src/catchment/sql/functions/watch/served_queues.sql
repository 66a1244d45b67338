-- served_queues: the queues that each worker process really serves: those of which it has a command. One that serves
-- all queues has SQL handlers of all, and Python handlers of its apps alone. Silent and paused workers are among them.
create or replace function worker.served_queues()
  returns table (worker_id bigint, queue text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select distinct w.worker_id, c.queue
    from worker.worker as w
    join worker.command_registry as c
      on case c.handler_kind
           when 'sql' then c.queue = any (w.queues)
           else c.queue = any (w.python_queues)
                and (w.python_commands is null or c.command = any (w.python_commands))
         end;
$$;
