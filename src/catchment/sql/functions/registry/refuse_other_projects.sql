-- refuse_other_projects: on the embedded server, which the projects of a user share, a command says which project it is
-- of: a folder. A project may take the name of another one's command over as long as that has nothing to do with it: no
-- task of it is unfinished, and no worker that has it is alive.
--
--   raises  CM013 the name is taken
create or replace function worker.refuse_other_projects(
  p_commands  jsonb
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_other record;
  v_use   text;
begin
  for v_other in
    select c.command, c.queue, c.project, n.project as wanted
      from jsonb_to_recordset(p_commands) as n (command text, project text)
      join worker.command_registry as c on c.command = n.command
     where worker.are_projects_apart(c.project, n.project)
     order by c.command
  loop
    select format('worker %s runs it', w.name) into v_use
      from worker.worker as w
     where v_other.queue = any (w.python_queues)
       and (w.python_commands is null or v_other.command = any (w.python_commands))
       and w.lease_until > worker.now()
       -- One that was killed is not waited for until its lease ends.
       and (w.lock_pid is null or exists (select from pg_stat_activity as a where a.pid = w.lock_pid))
     limit 1;
    if not found then
      select format('its task %s is %s', t.id, t.state) into v_use
        from worker.tasks as t
       where t.command = v_other.command
         and t.state not in ('completed', 'failed', 'cancelled')
       order by t.id
       limit 1;
    end if;
    if found then
      raise exception using
        errcode = 'CM013',
        message = format('command %s belongs to the project in %s, and %s; this one is in %s',
                         v_other.command, v_other.project, v_use, v_other.wanted),
        hint = 'The projects of a user share the embedded server. Give this one a server for itself: set '
               'CATCHMENT_DATA to a folder, in every shell that runs it. Or rename the command; or stop the worker '
               'and cancel the tasks of the other project.';
    end if;
    raise notice using
      message = format('command %s was that of the project in %s, and is now that of the project in %s',
                       v_other.command, v_other.project, v_other.wanted);
  end loop;
end;
$$;
