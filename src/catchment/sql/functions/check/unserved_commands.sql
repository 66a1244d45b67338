-- unserved_commands: Python commands with tasks that could start, which no live worker has. handler is where the
-- command was defined, as module:name. A task that a worker has just given back, because it lacks the command, counts
-- too. Reads at most p_most ready tasks of each queue, in claim order, and none of a queue whose commands all have a
-- worker.
create or replace function worker.unserved_commands(
  p_most  bigint default null
)
  returns table (queue text, command text, handler text, tasks bigint)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now    timestamptz := worker.now();
  v_queues integer[];
begin
  select array_agg(q.queue_id) into v_queues
    from worker.queue_registry as q
   where (q.paused_at is null or q.paused_until <= v_now)
     and (exists (select from worker.ready as r where r.queue_id = q.queue_id and r.kind = 'p')
          or exists (select from worker.blocked as b where b.queue_id = q.queue_id and b.reason = 'lane')
          or exists (select from worker.blocked as b where b.queue_id = q.queue_id and b.reason <> 'lane'))
     and (not exists (select from worker.worker as w where q.queue = any (w.python_queues) and w.lease_until > v_now)
          or exists (select
                       from worker.command_registry as c
                      where c.queue = q.queue
                        and c.handler_kind = 'python'
                        and not exists (select
                                          from worker.worker as w
                                         where q.queue = any (w.python_queues)
                                           and (w.python_commands is null or c.command = any (w.python_commands))
                                           and w.lease_until > v_now)));
  if v_queues is null then
    return;
  end if;
  return query
  with startable as (
    select r.id, q.queue_id
      from unnest(v_queues) as q (queue_id)
     cross join lateral (select x.id
                           from worker.ready as x
                          where x.queue_id = q.queue_id
                            and x.kind = 'p'
                          order by x.tier, x.band, x.rank, x.place, x.id
                          limit p_most) as r
    union
    select n.id, n.queue_id
      from worker.next_let_in(p_most::integer) as n
     where n.kind = 'p'
       and n.queue_id = any (v_queues)
    union
    select b.id, b.queue_id
      from worker.blocked as b
     where b.due_at < v_now + interval '10 seconds'
       and b.kind = 'p'
       and b.queue_id = any (v_queues)
  )
  select q.queue, t.command, min(c.handler_procedure), count(*)
    from startable as s
    join worker.task as t on t.id = s.id
    join worker.queue_registry as q on q.queue_id = s.queue_id
    left join worker.command_registry as c on c.command = t.command
   where not exists (select
                       from worker.worker as w
                      where q.queue = any (w.python_queues)
                        and (w.python_commands is null or t.command = any (w.python_commands))
                        and w.lease_until > v_now)
   group by q.queue, t.command
   order by q.queue, t.command;
end;
$$;
