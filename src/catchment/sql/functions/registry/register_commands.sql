-- register_commands: register the Python commands of an app, with their queues. p_queues is an array of objects with
-- the columns of the queue registry; by default, a new queue is concurrent and allows children at any depth. p_commands
-- is an array of objects with the columns of the command registry. What exists is left as it is, unless p_overwrite:
-- then commands that differ are changed, and of queues what is said.
--
--   returns the number of rows made or changed
--   locks   rows of the registries, queues by name, then commands by name; only those made or changed
--   raises  CM003 no such queue is registered; CM013 the name is taken
create or replace function worker.register_commands(
  p_queues     jsonb,
  p_commands   jsonb,
  p_overwrite  boolean default false
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_queues   integer;
  v_commands integer;
  v_wrong    record;
begin
  select c.command, c.handler_procedure into v_wrong
    from worker.command_registry as c
    join jsonb_to_recordset(p_commands) as n (command text) on n.command = c.command
   where c.handler_kind <> 'python'
   order by c.command
   limit 1;
  if found then
    raise exception using
      errcode = 'CM013',
      message = format('command %s is registered with the SQL handler %s, so it cannot have a Python one',
                       v_wrong.command, v_wrong.handler_procedure),
      hint = 'Give the Python command another name, or delete the row from worker.command_registry. To enqueue the SQL '
             'command from Python, pass its name.';
  end if;

  perform worker.refuse_other_projects(p_commands);

  v_queues := worker.write_queues(p_queues, coalesce(p_overwrite, false));

  select n.command, n.queue into v_wrong
    from jsonb_to_recordset(p_commands) as n (command text, queue text)
   where not exists (select from worker.queue_registry as q where q.queue = n.queue)
   order by n.command
   limit 1;
  if found then
    raise exception using
      errcode = 'CM003', message = format('unknown queue %L of command %s', v_wrong.queue, v_wrong.command);
  end if;

  v_commands := worker.write_commands(p_commands, coalesce(p_overwrite, false));
  return v_queues + v_commands;
end;
$$;
