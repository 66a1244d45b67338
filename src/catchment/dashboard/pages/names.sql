-- names: the registered commands and queues, to choose from.
(select 'command' as kind, c.command as name
   from worker.command_registry as c
  order by c.command
  limit %(most)s::bigint)
union all
(select 'queue', q.queue
   from worker.queue_registry as q
  order by q.queue
  limit %(most)s::bigint)
