-- request_upkeep: request the upkeep of the lake from time to time: files of refreshes that are over, tables in too
-- many files or with too many deleted rows, views that another client has dropped, snapshots and files that are too
-- old; and delete old history.
--
-- A time in the future was written before the clock was set back: then it is requested as well.
--
--   locks   the lake's row, when something is done
create or replace function lake.request_upkeep()
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  c_sweep_every    constant interval := '30 seconds';
  c_maintain_every constant interval := '1 minute';
  c_tidy_every     constant interval := '1 hour';
  c_expire_every   constant interval := '1 day';
  v_now  timestamptz := worker.now();
  v_lake lake.lake;
begin
  select l.* into v_lake from lake.lake as l;
  if coalesce(v_now >= v_lake.swept_at + c_sweep_every or v_now < v_lake.swept_at, true)
     and exists (select
                   from lake.artifact as a
                   left join lake.refresh as r on r.id = a.refresh_id
                  where r.id is null
                     or r.finished_at is not null) then
    perform worker.enqueue('lake_sweep', '{}');
    update lake.lake as l set swept_at = v_now;
  end if;
  if coalesce(v_now >= v_lake.maintained_at + c_maintain_every or v_now < v_lake.maintained_at, true) then
    perform worker.enqueue('lake_maintain', jsonb_build_object('dt_id', n.id), p_lane => 'table-' || n.id)
       from (select c.id from lake.crowded() as c (id)
             union
             select l.dt_id from lake.lost_names() as l where l.taken_by is null) as n (id);
    update lake.lake as l set maintained_at = v_now;
  end if;
  if v_now >= v_lake.expired_at + c_expire_every or v_now < v_lake.expired_at then
    perform worker.enqueue('lake_expire', '{}');
    update lake.lake as l set expired_at = v_now;
  end if;
  if coalesce(v_now >= v_lake.tidied_at + c_tidy_every or v_now < v_lake.tidied_at, true) then
    perform lake.forget_history();
    update lake.lake as l set tidied_at = v_now;
  end if;
end;
$$;
