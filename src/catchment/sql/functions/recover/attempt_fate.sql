-- attempt_fate: the state of an attempt, for a worker whose commit got no answer: held (it still runs under its fence),
-- ended (its task has moved on from just this attempt), or lost (another worker has taken it over).
create or replace function worker.attempt_fate(
  p_task_id  bigint,
  p_fence    bigint,
  p_attempt  integer
)
  returns text
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select case
           when exists (select from worker.running as r where r.id = p_task_id and r.fence = p_fence) then 'held'
           when exists (select from worker.running as r where r.id = p_task_id and r.phase = 0) then 'lost'
           when exists (select from worker.scope as s where s.id = p_task_id and s.attempt = p_attempt) then 'ended'
           when exists (select from worker.outcome as o where o.id = p_task_id and o.attempt = p_attempt
                           and o.state = 'completed')
             then 'ended'
           else 'lost'
         end;
$$;
