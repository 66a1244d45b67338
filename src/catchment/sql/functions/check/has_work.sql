-- has_work: is there anything on these queues that this worker can run now, that is being run, or that comes due inside
-- an open scope? Not counted: commands that it does not have, paused queues, a serial queue whose next task is not for
-- this worker, and top-level tasks that are not due.
create or replace function worker.has_work(
  p_worker_id  bigint,
  p_queues     text[]
)
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with me as (
    select w.python_queues, w.python_commands from worker.worker as w where w.worker_id = p_worker_id
  ), served as (
    select q.queue_id, q.mode = 'serial' as is_serial,
           q.paused_at is not null and coalesce(q.paused_until > worker.now(), true) as is_paused,
           coalesce(q.queue = any (m.python_queues), false) as has_python, m.python_commands
      from worker.queue_registry as q
      left join me as m on true
     where q.queue = any (p_queues)
  ), next_of_serial as (
    select coalesce(l.head_id, (select r.id
                                  from worker.ready as r
                                 where r.queue_id = s.queue_id
                                   and r.tier = 1
                                 order by r.band, r.rank, r.place, r.id
                                 limit 1)) as id
      from served as s
      left join worker.lane as l on l.queue_id = s.queue_id and l.lane = ''
     where s.is_serial
  )
  select exists (select
                   from worker.ready as r
                   join served as s on s.queue_id = r.queue_id
                  where not s.is_paused
                    and (not s.is_serial or r.tier = 0 or r.id in (select n.id from next_of_serial as n))
                    and (r.kind = 's'
                         or s.has_python
                        and exists (select
                                      from worker.task as t
                                     where t.id = r.id
                                       and (s.python_commands is null or t.command = any (s.python_commands)))))
      or exists (select
                   from worker.running as r
                   join served as s on s.queue_id = r.queue_id
                   join worker.task as t on t.id = r.id
                  where t.kind = 's'
                     or s.has_python and (s.python_commands is null or t.command = any (s.python_commands)))
      or exists (select
                   from worker.blocked as b
                   join served as s on s.queue_id = b.queue_id
                   join worker.task as t on t.id = b.id
                  where b.reason in ('retry', 'scheduled', 'limit')
                    and not s.is_paused
                    and t.parent_id is not null
                    and (b.kind = 's'
                         or s.has_python and (s.python_commands is null or t.command = any (s.python_commands))))
      or exists (select
                   from worker.scope as c
                   join served as s on s.queue_id = c.queue_id
                  where c.state = 'waiting'
                    and c.open_children = 0
                    and not c.is_joining);
$$;
