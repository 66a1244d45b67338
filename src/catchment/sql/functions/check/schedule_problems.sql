-- schedule_problems: what an operator should know about schedules, as doctor says it. What upkeep has already noted is
-- not repeated.
create or replace function worker.schedule_problems()
  returns table (level text, subject text, finding text, remedy text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with looked_at as (
    select s.name, s.command, s.is_declared, s.enabled, c.handler_procedure, worker.schedule_fault(s) as fault,
           c.handler_kind = 'python'
           and not exists (select
                             from worker.worker as w
                            where c.queue = any (w.python_queues)
                              and (w.python_commands is null or c.command = any (w.python_commands))
                              and w.lease_until > worker.now()) as is_unserved,
           array(select distinct o.definition ->> 'command'
                   from worker.schedule_source as o
                   join worker.worker as w on w.worker_id = any (o.worker_ids)
                  where o.name = s.name
                    and w.lease_until > worker.now()
                  order by 1) as commands,
           (select max(o.seen_at) from worker.schedule_source as o where o.name = s.name) as seen_at
      from worker.schedule as s
      join worker.command_registry as c on c.command = s.command
  )
  select 'info', 'schedule ' || s.name, 'paused', worker.shell_command('catchment schedule resume', s.name)
    from looked_at as s
   where not s.enabled
  union all
  select 'error', 'schedule ' || s.name, 'cannot fire: ' || s.fault,
         E'# Correct the row, or pause the schedule.\n' || worker.shell_command('catchment schedule pause', s.name)
    from looked_at as s
   where s.enabled
     and s.fault is not null
     and not exists (select from worker.trouble as t where t.step = 'schedule' and t.item = s.name)
  union all
  select 'warning', 'schedule ' || s.name,
         format('no live worker has its command %s%s', s.command,
                case when s.is_declared then ', so it does not fire' else ': its tasks wait' end),
         format('catchment worker --app %s  # start a worker with the app that defines it',
                worker.app_of(s.handler_procedure))
    from looked_at as s
   where s.enabled
     and s.is_unserved
  union all
  select 'info', 'schedule ' || s.name,
         'no live worker has it in its code any more, so it does not fire' || coalesce(
           '; it is deleted at ' || worker.said_when(s.seen_at + interval '7 days', worker.now()), ''),
         worker.shell_command('catchment schedule pause', s.name) || '  # to keep it'
    from looked_at as s
   where s.enabled
     and s.is_declared
     and s.commands = '{}'
     and not s.is_unserved
  union all
  select 'warning', 'schedule ' || s.name,
         format('live workers have it in their code for the commands %s: it fires the one that was new last, %s',
                array_to_string(s.commands, ' and '), s.command),
         '# Give one of them another name: name= of its app.schedule.'
    from looked_at as s
   where cardinality(s.commands) > 1;
$$;
