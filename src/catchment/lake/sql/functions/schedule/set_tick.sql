-- set_tick: the interval of the tick: every second while a round is open, so that one whose worker died continues; else
-- a quarter of the smallest lag, within a second and a minute; none when nothing needs it.
--
--   locks   the schedule's row, if something changes
create or replace function lake.set_tick()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now    timestamptz := worker.now();
  v_lag    interval := (select min(e.lag)
                          from lake.effective_lag as e
                          join lake.dt as d on d.id = e.dt_id
                         where d.state = 'active'
                           and d.scheduler);
  v_is_on  boolean := v_lag is not null or exists (select from lake.artifact);
  v_every  interval := least(interval '1 minute', greatest(interval '1 second', v_lag / 4));
begin
  if exists (select from lake.round as o where o.closed_at is null) then
    v_is_on := true;
    v_every := interval '1 second';
  end if;
  update worker.schedule as s
     set every   = v_every,
         enabled = v_is_on,
         next_at = case when s.enabled then least(s.next_at, v_now + v_every) else v_now end
   where s.name = 'lake_tick'
     and (s.every, s.enabled) is distinct from (v_every, v_is_on);
end;
$$;
