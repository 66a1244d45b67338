-- schedule_history: the outcome of each time of a schedule, newest first: tasks that were made with their states, and
-- times that got none, with the policy that says so.
--
--   raises  CM018 an option has an invalid value
create or replace function worker.schedule_history(
  p_name   text,
  p_limit  integer default 100
)
  returns table (n bigint, due_at timestamptz, missed_from timestamptz, at timestamptz, outcome text, task_id bigint,
                 state text, since timestamptz)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from worker.schedule as s where s.name = p_name) then
    perform worker.refuse_unknown_schedule(p_name);
  end if;
  return query
  select r.n, r.due_at, r.missed_from, r.at, r.fate, r.task_id, t.standing ->> 'state',
         (t.standing ->> 'since')::timestamptz
    from (select x.* from worker.schedule_run as x where x.schedule = p_name order by x.n desc limit p_limit) as r
   cross join lateral (select worker.standing(r.task_id) as standing) as t
   order by r.n desc;
end;
$$;
