-- command_list: each command with its handler and its rules.
select c.command, c.queue, c.handler_kind, c.handler_procedure, c.before_procedure, c.after_procedure, c.join_procedure,
       c.priority, c.max_attempts, extract(epoch from c.timeout)::float8 as timeout_seconds,
       c.dedup, c.merge, c.on_failure, c.description
  from worker.command_registry as c
 order by c.queue, c.command
