-- doctor: findings for an operator, each with a remedy: a command per line, as explain has them, or '# ' and advice. No
-- rows means no problems. Its cost does not grow with the tasks: of each kind of finding a few are named, and counts
-- stop at 1000.
with unserved as (
  select * from worker.unserved_commands(1000)
), halted as (
  select l.*, row_number() over () as n from worker.lane_figures('halted', 11) as l
), warned as (
  select w.task_id, w.source, w.message, w.at
    from worker.warning as w
   where w.at > clock_timestamp() - interval '1 day'
   order by w.at desc
   limit 1000
)
select 'error' as level, 'command ' || c.command as subject,
       format(case cardinality(s.signatures) when 0 then 'its %s %s does not exist'
                   else 'its %s %s is ambiguous: %s' end, p.kind, p.name,
              array_to_string(s.signatures, ' or ')) as finding,
       case cardinality(s.signatures) when 0 then '# Create the procedure, or correct worker.command_registry.'
                                      else '# Write its arguments too: ' || replace(s.signatures[1], 'pg_catalog.', '')
       end as remedy
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
       format('halted since %s: task %s failed', worker.said_when(l.halted_at, worker.now()), l.head_id),
       format(E'catchment task retry %s  # run the failed task again\n%s  # skip it', l.head_id,
              worker.shell_command('catchment lane skip', l.queue, l.lane))
  from halted as l
 where l.n <= 10
union all
select 'warning', 'lanes', 'more lanes are halted', 'catchment lane list --state halted'
  from halted as l
 where l.n = 11
union all
select 'warning', 'queue ' || q.queue,
       format('%s%s ready and no worker serves it', case when q.ready >= 1000 then 'at least ' else '' end,
              worker.said_count(q.ready, 'task') || case q.ready when 1 then ' is' else ' are' end),
       format('catchment worker --queue %s  # start one', worker.shell_word(q.queue))
  from worker.queue_figures(clock_timestamp(), 1000) as q
 where q.ready > 0
   and q.paused_at is null
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
       format('catchment worker --app %s  # start a worker with the app that defines it%s', worker.app_of(u.handler),
              coalesce(' (' || worker.shell_word(u.handler) || ')', ''))
  from unserved as u
union all
select 'info', 'queue ' || q.queue, 'paused' || coalesce(case
         when isfinite(q.paused_until) then ' until ' || worker.said_when(q.paused_until, worker.now()) end, ''),
       worker.shell_command('catchment queue resume', q.queue)
  from worker.queue_registry as q
 where q.paused_at is not null
   and coalesce(q.paused_until > worker.now(), true)
union all
select 'info', 'worker ' || w.worker_id,
       format('%s has taken no tasks since %s: %s by %s', w.name, worker.said_when(w.asked_at, worker.now()),
              case w.asked when 'drain' then 'drained' else 'paused' end, w.asked_by),
       'catchment workers resume ' || w.worker_id
  from worker.worker as w
 where w.asked is not null
union all
select p.level, p.subject, p.finding, p.remedy from worker.schedule_problems() as p
union all
select 'warning', 'worker ' || w.worker_id,
       format('%s has not been seen since %s', w.name, worker.said_when(w.seen_at, worker.now())),
       '# It will be declared dead when its lease ends; upkeep of any live worker does that.'
  from worker.worker as w
 where w.lease_until < clock_timestamp()
union all
select 'warning', 'backend ' || a.pid,
       format('holds a snapshot since %s (%s)', worker.said_when(a.xact_start, worker.now()),
              coalesce(nullif(a.application_name, ''), 'unnamed')),
       '# Long transactions keep dead rows alive everywhere: end it if it is idle.'
  from pg_stat_activity as a
 where a.backend_xmin is not null
   and a.xact_start < clock_timestamp() - interval '10 minutes'
union all
select 'warning', 'transaction ' || p.gid,
       format('prepared by %s since %s, and neither committed nor rolled back', p.owner,
              worker.said_when(p.prepared, worker.now())),
       '# It keeps dead rows alive everywhere. Commit it, or roll it back.'
       || case when p.gid ~ '[[:cntrl:]]' then ''
               else E'\n' || worker.shell_command('catchment psql -c', format('rollback prepared %L', p.gid))
                    || '  # give it up'
          end
  from pg_prepared_xacts as p
 where p.database = current_database()
   and p.prepared < clock_timestamp() - interval '10 minutes'
union all
select 'warning', 'replication slot ' || r.slot_name, 'nobody reads it, and it keeps dead rows alive everywhere',
       format('%s  # if it was forgotten', worker.shell_command('catchment psql -c', format(
         'select pg_drop_replication_slot(%L)', r.slot_name)))
  from pg_replication_slots as r
 where not r.active
   and (r.xmin is not null or r.catalog_xmin is not null)
union all
select 'warning', 'table worker.' || t.relname,
       format('%s dead rows beside %s live ones', t.n_dead_tup, t.n_live_tup),
       E'# End what holds an old snapshot, if anything does; then:\n'
       || worker.shell_command('catchment psql -c', format('vacuum worker.%I', t.relname))
  from pg_stat_user_tables as t
 where t.schemaname = 'worker'
   and t.n_dead_tup > 100000
   and t.n_dead_tup > 2 * t.n_live_tup
union all
select 'warning', 'hooks', format('%s warnings in the last day, the newest: %s', count(*),
                                  (array_agg(w.message order by w.at desc))[1]),
       worker.shell_command('catchment psql -c', 'select * from worker.warning order by at desc')
  from warned as w
 where w.source not in ('worker', 'lane')
having count(*) > 0
union all
select 'warning', 'command ' || t.command,
       format('a worker of queue %s does not know it and gives its tasks back', t.queue),
       '# Give every worker of this queue the app that has the command, or move the command to a separate queue.'
  from (select distinct x.task_id from warned as x where x.source = 'worker') as w
 cross join lateral (select y.command, y.queue, y.state from worker.tasks as y where y.id = w.task_id offset 0) as t
 where t.state in ('pending', 'interrupted')
   and not exists (select from unserved as u where u.command = t.command and u.queue = t.queue)
 group by t.command, t.queue
union all
select 'error', rtrim(format('upkeep %s %s', t.step, t.item)),
       format('failed %s times since %s: %s', t.count, worker.said_when(t.first_at, worker.now()), t.message),
       case t.step
         when 'schedule' then E'# Correct the row, or pause the schedule.\n'
                              || worker.shell_command('catchment schedule pause', t.item)
         when 'signal'   then '# Its session may not be signalled: let all workers log in as one user, or grant '
                              'pg_signal_backend.'
         when 'hanging'  then '# Its session may not be ended: let all workers log in as one user, or grant '
                              'pg_signal_backend.'
         else format(E'# It is tried again at %s; everything else continues.\n%s',
                     worker.said_when(t.retry_at, worker.now()),
                     worker.shell_command('catchment psql -c', 'select * from worker.trouble'))
       end
  from worker.trouble as t
union all
select 'warning', 'backend ' || s.pid,
       format('user %s (%s) holds the lock %s', s.usename, coalesce(nullif(s.application_name, ''), 'unnamed'), s.lock),
       E'# Nothing stops, but deaths are noticed later.\n'
       || worker.shell_command('catchment psql -c', format('select pg_terminate_backend(%s)', s.pid))
  from worker.strangers() as s
union all
select 'error', 'notifications', format('the server''s queue for notifications is %s %% full%s', round(100 * u.usage),
                                         coalesce(', held up by a session of user ' || a.usename
                                                  || ' in a transaction since '
                                                  || worker.said_when(a.xact_start, worker.now()), '')),
       coalesce(E'# Workers only poll now. End the session that listens and stays in its transaction, probably this '
                'one.\n'
                || worker.shell_command('catchment psql -c', format('select pg_terminate_backend(%s)', a.pid)),
                '# Workers only poll now. End sessions that listen and never read.')
  from (select pg_notification_queue_usage() as usage) as u
  left join lateral (select s.pid, s.usename, s.xact_start
                       from pg_stat_activity as s
                      where s.xact_start is not null
                        and s.pid <> pg_backend_pid()
                        and s.backend_type = 'client backend'
                      order by s.xact_start
                      limit 1) as a on true
 where u.usage >= 0.25
