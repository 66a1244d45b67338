-- start_command: one command with the schema of its payload.
select c.command, c.queue, c.handler_kind, left(c.description, 2000) as description, c.priority, c.payload_schema
  from worker.command_registry as c
 where c.command = %(command)s::text
