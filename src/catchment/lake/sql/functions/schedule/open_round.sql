-- open_round: refresh these tables, and all dynamic tables they read, as of one snapshot. Only in the turn of rounds,
-- so that rounds are opened in the order of their snapshots, which is the order in which the refreshes of a table run.
--
--   locks   for a scheduled round the rows of its tables, those that are free
create or replace function lake.open_round(
  p_trigger   text,
  p_snapshot  bigint,
  p_data_at   timestamptz,
  p_tables    bigint[]
)
  returns bigint
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_round_id bigint;
begin
  insert into lake.round (trigger, snapshot, data_at, created_at)
  values (p_trigger, p_snapshot, p_data_at, worker.now())
  returning id into v_round_id;
  with recursive above as (
    select t.id from unnest(p_tables) as t (id)
    union
    select s.source_dt_id from above as a join lake.source as s on s.dt_id = a.id where s.source_dt_id is not null
  )
  insert into lake.refresh (round_id, dt_id, created_at)
  select v_round_id, d.id, worker.now()
    from lake.dt as d
    join above as a on a.id = d.id
   where d.state in ('active', 'suspended')
   order by d.id;
  if p_trigger = 'scheduled' then
    update lake.dt as d
       set last_attempt_at = p_data_at
     where d.id in (select n.id
                      from lake.dt as n
                      join lake.refresh as r on r.dt_id = n.id and r.round_id = v_round_id
                     order by n.id
                       for update of n skip locked);
  end if;
  return v_round_id;
end;
$$;
