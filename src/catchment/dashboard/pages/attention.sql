-- attention: what a person should look at, the most urgent first, and what to do about it. A few rows, each found by
-- an index or in a small table.
select a.level, a.subject, a.finding, a.remedy, a.task_id, a.queue
  from (
    (select 1 as rank, 'error' as level, rtrim(format('upkeep %s %s', t.step, t.item)) as subject,
            format('failed %s times: %s', t.count, t.message) as finding, 'catchment doctor' as remedy,
            null::bigint as task_id, null::text as queue
       from worker.trouble as t
      order by t.first_at
      limit 5)
    union all
    (select 2, 'error',
            case when l.lane = '' then 'queue ' || l.queue else format('lane %s of queue %s', l.lane, l.queue) end,
            format('halted: task %s failed', l.head_id),
            format(E'catchment task retry %s  # run it again\n%s  # skip it', l.head_id,
                   worker.shell_command('catchment lane skip', l.queue, l.lane)), l.head_id, l.queue
       from worker.lanes as l
      where l.halted_at is not null
      order by l.halted_at
      limit 5)
    union all
    (select 3, 'error', 'command ' || u.command,
            format(case u.tasks when 1 then '%s task waits on queue %s, and no live worker has the command'
                                else '%s tasks wait on queue %s, and no live worker has the command' end,
                   u.tasks, u.queue),
            'catchment worker --app ' || worker.app_of(u.handler), null, u.queue
       from worker.unserved_commands(100) as u
      limit 5)
    union all
    (select 4, 'error', 'queue ' || f.queue, 'tasks are ready, and no live worker serves it',
            'catchment worker --queue ' || worker.shell_word(f.queue), null, f.queue
       from worker.queue_figures(worker.now(), 1) as f
      where f.ready > 0
        and f.workers = 0
        and f.paused_at is null
        and not exists (select from worker.unserved_commands(1) as u where u.queue = f.queue)
      limit 5)
    union all
    (select 5, 'warning', 'worker ' || w.worker_id, format('%s is silent: its lease has ended', w.name),
            'catchment doctor', null, null
       from worker.worker as w
      where w.lease_until < worker.now()
      order by w.lease_until
      limit 5)
    union all
    (select 6, 'warning', 'queue ' || q.queue,
            'paused' || coalesce(' until ' || to_char(q.paused_until at time zone 'UTC', 'HH24:MI:SS "UTC"'), ''),
            worker.shell_command('catchment queue resume', q.queue), null, q.queue
       from worker.queue_registry as q
      where q.paused_at is not null
        and coalesce(q.paused_until > worker.now(), true)
      order by q.paused_at
      limit 5)
  ) as a
 order by a.rank, a.subject
