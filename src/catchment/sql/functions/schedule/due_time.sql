-- due_time: the time of a due schedule that is decided next: the last one that has come; with missed = 'all' the first
-- one, of the last seven days at most.
--
--   raises  see next_cron
create or replace function worker.due_time(
  p_schedule  worker.schedule,
  p_now       timestamptz
)
  returns timestamptz
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  c_longest constant interval := '7 days';
  v_last    timestamptz;
begin
  if p_schedule.missed = 'all' and p_schedule.next_at >= p_now - c_longest then
    return p_schedule.next_at;
  end if;
  v_last := worker.last_time(p_schedule.every, p_schedule.cron, p_schedule.timezone, p_schedule.next_at, p_now);
  if p_schedule.missed <> 'all' then
    return v_last;
  end if;
  return least(v_last, worker.next_time(p_schedule.every, p_schedule.cron, p_schedule.timezone, v_last,
                                        p_now - c_longest));
end;
$$;
