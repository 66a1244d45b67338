-- fate_of_time: the fate of a scheduled time that has come: made, overlap or missed, as in its history, or wait. A time
-- is missed when it could have been noticed more than a minute ago.
create or replace function worker.fate_of_time(
  p_schedule  worker.schedule,
  p_due       timestamptz,
  p_now       timestamptz
)
  returns text
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  c_late constant interval := '1 minute';
  v_free timestamptz := p_due;
begin
  if p_schedule.missed = 'skip' then
    -- One that had to wait for the run before it was not free to be made sooner.
    if p_schedule.overlap = 'wait' then
      select greatest(p_due, max(o.completed_at)) into v_free
        from worker.outcome as o
       where o.id = any (p_schedule.recent_ids);
    end if;
    if p_now > v_free + c_late then
      return 'missed';
    end if;
  end if;
  if p_schedule.overlap in ('skip', 'wait') and worker.open_runs(p_schedule.recent_ids) <> '{}' then
    return case p_schedule.overlap when 'skip' then 'overlap' else 'wait' end;
  end if;
  return 'made';
end;
$$;
