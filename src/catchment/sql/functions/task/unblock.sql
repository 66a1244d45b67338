-- unblock: blocked tasks become ready.
--
--   locks   the blocked rows, then ready
create or replace function worker.unblock(p_ids bigint[])
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_children integer[];
  v_tops     integer[];
begin
  if p_ids is null or p_ids = '{}' then
    return;
  end if;
  with gone as (
    delete from worker.blocked as b where b.id = any (p_ids) returning b.*
  ),
  made as (
    insert into worker.ready (queue_id, kind, tier, band, rank, place, id, phase, attempt, failures, interruptions, since)
    select g.queue_id, g.kind, g.tier, g.band, g.rank, g.place, g.id, g.phase, g.attempt, g.failures, g.interruptions,
           worker.now()
      from gone as g
  )
  select array_agg(distinct g.queue_id) filter (where g.tier = 0), array_agg(distinct g.queue_id) filter (where g.tier = 1)
    into v_children, v_tops
    from gone as g;
  perform worker.wake(v_children, 0), worker.wake(v_tops, 1);
end;
$$;
