-- open_round: refresh these tables, and all dynamic tables they read, as of the newest snapshot. Only in the turn of
-- rounds, so that rounds are opened in the order of their snapshots, which is the order in which the refreshes of a
-- table run. What the round reads of its sources is counted while its snapshot is the newest: see take_readings.
--
--   locks   for a scheduled round the rows of its tables, those that are free; see follow_expiry
create or replace function lake.open_round(
  p_trigger     text,
  p_tables      bigint[],
  p_moved_from  bigint default null
)
  returns bigint
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_data_at  timestamptz := worker.now();
  v_round_id bigint;
begin
  insert into lake.round (trigger, snapshot, data_at, created_at, moved_from, moves)
  values (p_trigger, lake.scan_changes(), v_data_at, worker.now(), p_moved_from,
          coalesce((select o.moves + 1 from lake.round as o where o.id = p_moved_from), 0))
  returning id into v_round_id;
  with recursive above as (
    select t.id from unnest(p_tables) as t (id)
    union
    select s.source_dt_id from above as a join lake.source as s on s.dt_id = a.id where s.source_dt_id is not null
  )
  insert into lake.refresh (round_id, dt_id, generation, created_at)
  select v_round_id, d.id, d.generation, worker.now()
    from lake.dt as d
    join above as a on a.id = d.id
   where d.state in ('active', 'suspended')
   order by d.id;
  perform lake.follow_expiry(v_round_id);
  -- A commit that comes in between: the snapshot is no longer the newest, and its past may have changed.
  while not lake.take_readings(v_round_id) loop
    v_data_at := worker.now();
    update lake.round as o set snapshot = lake.scan_changes(), data_at = v_data_at where o.id = v_round_id;
  end loop;
  if p_trigger = 'scheduled' then
    update lake.dt as d
       set last_attempt_at = v_data_at
     where d.id in (select n.id
                      from lake.dt as n
                      join lake.refresh as r on r.dt_id = n.id and r.round_id = v_round_id
                     order by n.id
                       for update of n skip locked);
  end if;
  return v_round_id;
end;
$$;
