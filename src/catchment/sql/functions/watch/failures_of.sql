-- failures_of: how many times a task has failed, of the times that max_attempts allows: those of its handler, or of its
-- join if that failed last, since it was retried by hand.
create or replace function worker.failures_of(p_task_id bigint)
  returns bigint
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with kept as (
    select a.phase, a.state, a.is_last, row_number() over (order by a.ended_at, a.attempt) as n
      from worker.attempt as a
     where a.task_id = p_task_id
       and a.phase <> 2
  ), last as (
    select k.phase, k.n from kept as k where k.state = 'failed' order by k.n desc limit 1
  )
  select count(*)
    from kept as k
    join last as l on l.phase = k.phase and l.n >= k.n
   where k.state = 'failed'
     and not exists (select from kept as x where x.is_last and x.n >= k.n and x.n < l.n);
$$;
