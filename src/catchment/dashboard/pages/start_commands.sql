-- start_commands: the commands that a task can be made of.
select c.command, c.queue, c.handler_kind, left(c.description, 500) as description
  from worker.command_registry as c
 order by c.command
 limit %(most)s::integer
