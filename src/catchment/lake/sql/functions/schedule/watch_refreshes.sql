-- watch_refreshes: cancel refreshes that are past their deadline, and refreshes in buckets that hang: a bucket runs,
-- but none has started or ended for no_progress_seconds (of the plan). Buckets that wait for a worker do not count as
-- hanging. Their tasks are cancelled, and settle them as they end.
--
--   locks   refresh rows, those that are free; see worker.cancel
create or replace function lake.watch_refreshes()
  returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  c_no_progress constant double precision := 600;
  v_now     timestamptz := worker.now();
  v_count   integer := 0;
  v_refresh record;
begin
  for v_refresh in
    select r.id, r.task_id, case when r.deadline_at <= v_now then 'TIMEOUT' else 'NO_PROGRESS' end as code
      from lake.refresh as r
      left join lateral (select count(n.id) as running, max(greatest(n.started_at, o.completed_at)) as newest
                           from worker.task as t
                           left join worker.running as n on n.id = t.id
                           left join worker.outcome as o on o.id = t.id
                          where t.parent_id = r.task_id) as b on r.plan is not null
     where r.finished_at is null
       and r.state in ('EXECUTING', 'PUBLISHING')
       and r.task_id is not null
       and r.cancel_code is null
       and (r.deadline_at <= v_now
            or b.running > 0
           and greatest(b.newest, r.planned_at)
               < v_now - make_interval(secs => coalesce((r.plan ->> 'no_progress_seconds')::double precision,
                                                        c_no_progress)))
     order by r.id
       for update of r skip locked
  loop
    update lake.refresh as r set cancel_code = v_refresh.code where r.id = v_refresh.id;
    perform worker.cancel(v_refresh.task_id, format('refresh %s: %s', v_refresh.id, v_refresh.code))
      from worker.task as t
     where t.id = v_refresh.task_id;
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
