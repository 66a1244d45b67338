-- last_failure: what went wrong last in derivation, since a round was done, while something still waits for it: the
-- task that failed first in the last round that broke, or the last collection that failed before it had a round;
-- how often in a row rounds broke; and when the next try is due, null if that is now. No row if nothing did.
create or replace function register.last_failure()
  returns table (
    round_id   bigint,
    task_id    bigint,
    command    text,
    error      text,
    failed_at  timestamptz,
    failures   integer,
    next_try   timestamptz
  )
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with failed as materialized (
    select t.id, t.command, t.error, t.completed_at, (t.payload ->> 'round_id')::bigint as round_id
      from worker.tasks as t
     where t.state = 'failed'
       and t.queue = 'analytics'
       and t.completed_at >= coalesce((select max(r.ended_at) from register.round as r where r.state = 'done'),
                                      '-infinity')
  ),
  last as (
    select f.id, f.round_id from failed as f order by f.completed_at desc, f.id desc limit 1
  )
  select f.round_id, f.id, f.command, f.error, f.completed_at,
         coalesce((select r.failures from register.round as r order by r.id desc limit 1), 0),
         (select min(t.due_at) from worker.open_tasks('{analytics}', '{collect_changes}') as t
           where t.state = 'pending' and t.due_at > worker.now())
    from last as l
    join failed as f on f.round_id = l.round_id or f.id = l.id
   where register.is_deriving_statistical_units()
      or register.is_deriving_reports()
   order by f.completed_at, f.id
   limit 1;
$$;
