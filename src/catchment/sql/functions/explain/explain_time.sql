-- explain_time: the task is not due: it is scheduled, waits for its next attempt, or its handler snoozes. See explain.
create or replace function worker.explain_time(
  p_task_id       bigint,
  p_max_attempts  integer,
  p_at            worker.whereabouts,
  p_now           timestamptz
)
  returns setof worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select p_at.reason, p_at.due_at > p_now,
         jsonb_strip_nulls(jsonb_build_object('due_at', p_at.due_at, 'attempt', p_at.attempt,
                                              'failures', p_at.failures,
                                              'snoozes', z.times, 'reason', z.reason)),
         case p_at.reason
           when 'scheduled' then format('It %s scheduled for %s.', case when w.is_due then 'was' else 'is' end, w.due)
           when 'snooze' then format('Its handler has snoozed %s, %suntil %s%s.', worker.said_count(z.times, 'time'),
                                     case when w.is_due then '' else 'now ' end, w.due,
                                     coalesce(': ' || left(z.reason, 200), ''))
           when 'retry' then case
             when p_at.failures = 0 then format('A worker gave %s back; it may start again %s %s.',
                                             case p_at.phase when 1 then 'its join' else 'it' end,
                                             case when w.is_due then 'since' else 'at' end, w.due)
             else format('%s failed %s of %s; its next %s is %s %s.',
                         case p_at.phase when 1 then 'Its join' else 'It' end, p_at.failures,
                         worker.said_count(p_max_attempts, 'time'),
                         case p_at.phase when 1 then 'run' else 'attempt' end,
                         case when w.is_due then 'due since' else 'at' end, w.due)
           end
         end,
         case when p_at.reason = 'scheduled' and p_at.attempt = 0 and not w.is_due
           then worker.shell_command('catchment psql -c', format(
             'update worker.tasks set scheduled_at = null where id = %s', p_task_id)) end
    from (select worker.said_when(p_at.due_at, p_now) as due, p_at.due_at <= p_now as is_due) as w
    left join worker.snoozed as z on z.task_id = p_task_id and p_at.reason = 'snooze'
   where p_at.due_at is not null;
$$;
