-- doctor: what an operator should know, each with what to do. No rows: all is well.
with unserved as (
  select * from worker.unserved_commands()
)
select 'error' as level, coalesce('task ' || i.task_id, 'engine') as subject, i.rule || ': ' || i.problem as finding,
       'This is a defect of the engine: please report it with the output of "catchment task show".' as remedy
  from worker.check_invariants() as i
union all
select 'error', 'command ' || c.command,
       format(case cardinality(s.signatures) when 0 then 'its %s %s does not exist'
                   else 'its %s %s is ambiguous: %s' end, p.kind, p.name,
              array_to_string(s.signatures, ' or ')),
       case cardinality(s.signatures) when 0 then 'Create the procedure, or correct worker.command_registry.'
                                      else 'Write its arguments too: ' || replace(s.signatures[1], 'pg_catalog.', '')
       end
  from worker.command_registry as c
 cross join lateral (values ('handler', c.handler_procedure, c.handler_signature, 2),
                     ('before hook', c.before_procedure, null, 1),
                            ('after hook', c.after_procedure, null, 1), ('join', c.join_procedure, c.join_signature, 2))
       as p (kind, name, signature, arguments)
 cross join lateral (select worker.procedure_signatures(p.name, p.arguments) as signatures) as s
 where c.handler_kind = 'sql'
   and p.name is not null
   and cardinality(s.signatures) <> 1
   and not coalesce(p.signature = any (s.signatures), false)
union all
select 'warning', format('lane %s of queue %s', l.lane, l.queue),
       format('halted since %s: task %s failed', date_trunc('second', l.halted_at), l.head_id),
       format('catchment task retry %s, or go on without it: %s', l.head_id,
              worker.shell_command('catchment lane skip', l.queue, l.lane))
  from worker.lanes as l
 where l.state = 'halted'
union all
select 'warning', 'queue ' || q.queue,
       format('%s tasks are ready and no worker serves it', q.ready),
       'Start one: catchment worker --queue ' || worker.shell_word(q.queue)
  from worker.queues as q
 where q.ready > 0
   and not q.is_paused
   and not exists (select
                     from worker.worker as w
                    where q.queue = any (w.queues)
                      and w.lease_until > clock_timestamp()
                      and w.asked is null)
   and not exists (select from unserved as u where u.queue = q.queue)
union all
select 'warning', 'command ' || u.command,
       format(case u.tasks when 1 then '%s task waits on queue %s, and no live worker has the command'
                           else '%s tasks wait on queue %s, and no live worker has the command' end, u.tasks, u.queue),
       format('Start a worker with the app that defines it%s: catchment worker --app %s',
              coalesce(' (' || u.handler || ')', ''), worker.app_of(u.handler))
  from unserved as u
union all
select 'info', 'queue ' || q.queue, 'paused' || coalesce(' until ' || q.paused_until, ''),
       worker.shell_command('catchment queue resume', q.queue)
  from worker.queues as q
 where q.is_paused
union all
select 'warning', 'worker ' || w.worker_id, format('%s has not been seen since %s', w.name, w.seen_at),
       'It will be declared dead when its lease ends; upkeep of any live worker does that.'
  from worker.worker as w
 where w.lease_until < clock_timestamp()
union all
select 'warning', 'backend ' || a.pid,
       format('holds a snapshot since %s (%s)', a.xact_start, coalesce(nullif(a.application_name, ''), 'unnamed')),
       'Long transactions keep dead rows alive everywhere: end it if it is idle.'
  from pg_stat_activity as a
 where a.backend_xmin is not null
   and a.xact_start < clock_timestamp() - interval '10 minutes'
union all
select 'warning', 'hooks', format('%s warnings in the last day, the newest: %s', count(*),
                                  (array_agg(w.message order by w.at desc))[1]),
       'select * from worker.warning order by at desc'
  from worker.warning as w
 where w.at > clock_timestamp() - interval '1 day'
   and w.source not in ('worker', 'lane')
having count(*) > 0
union all
select 'warning', 'command ' || t.command,
       format('a worker of queue %s does not know it and gives its tasks back', t.queue),
       'Give every worker of this queue the app that has the command, or the command a queue of its own.'
  from worker.warning as w
  join worker.tasks as t on t.id = w.task_id
 where w.source = 'worker'
   and w.at > clock_timestamp() - interval '1 day'
   and t.state in ('pending', 'interrupted')
   and not exists (select from unserved as u where u.command = t.command and u.queue = t.queue)
 group by t.command, t.queue
union all
select 'error', rtrim(format('upkeep %s %s', t.step, t.item)),
       format('failed %s times since %s: %s', t.count, date_trunc('second', t.first_at), t.message),
       case t.step
         when 'schedule' then format('Correct the row, or disable it: update worker.schedule set enabled = false where '
                                     'name = %L', t.item)
         when 'signal'   then 'Its session may not be signalled: let all workers log in as one user, or grant '
                              'pg_signal_backend.'
         when 'hanging'  then 'Its session may not be ended: let all workers log in as one user, or grant '
                              'pg_signal_backend.'
         else format('It is tried again at %s; everything else goes on. Look at: select * from worker.trouble.',
                     date_trunc('second', t.retry_at))
       end
  from worker.trouble as t
union all
select 'warning', 'backend ' || s.pid,
       format('user %s (%s) holds the lock %s', s.usename, coalesce(nullif(s.application_name, ''), 'unnamed'), s.lock),
       format('Nothing stops, but deaths are noticed later: select pg_terminate_backend(%s)', s.pid)
  from worker.strangers() as s
union all
select 'error', 'notifications', format('the server''s queue for notifications is %s %% full%s', round(100 * u.usage),
                                         coalesce(', held up by a session of user ' || a.usename
                                                  || ' in a transaction since '
                                                  || date_trunc('second', a.xact_start), '')),
       coalesce(format('Workers only poll now. End the session that listens and stays in its transaction, probably: '
                       'select pg_terminate_backend(%s)', a.pid),
                'Workers only poll now. End sessions that listen and never read.')
  from (select pg_notification_queue_usage() as usage) as u
  left join lateral (select s.pid, s.usename, s.xact_start
                       from pg_stat_activity as s
                      where s.xact_start is not null
                        and s.pid <> pg_backend_pid()
                        and s.backend_type = 'client backend'
                      order by s.xact_start
                      limit 1) as a on true
 where u.usage >= 0.25
