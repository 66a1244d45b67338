-- make_run: enqueue the task of a schedule for a time. With overlap = 'cancel', runs that are not settled are cancelled
-- first.
--
--   returns the task
--   locks   see cancel
--   raises  see enqueue
create or replace function worker.make_run(
  p_schedule  worker.schedule,
  p_due       timestamptz
)
  returns bigint
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if p_schedule.overlap = 'cancel' then
    perform worker.cancel(r.id, format('schedule %s is due again', p_schedule.name))
       from unnest(worker.open_runs(p_schedule.recent_ids)) as r (id)
      order by r.id;
  end if;
  return worker.enqueue(
    p_schedule.command,
    p_schedule.payload
    || case when p_schedule.due_key is null then '{}'
            else jsonb_build_object(p_schedule.due_key,
                                    to_char(p_due at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) end,
    p_schedule.priority, p_schedule.lane);
end;
$$;
