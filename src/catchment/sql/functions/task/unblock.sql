-- unblock: blocked tasks become ready; settled scopes that are retried (phase 2) open again.
--
--   locks   the blocked rows, then ready; the scope rows to be reopened, which nobody else takes while they are settled
create or replace function worker.unblock(p_ids bigint[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now      timestamptz := worker.now();
  v_children integer[];
  v_tops     integer[];
  v_scopes   bigint[];
begin
  if p_ids is null or p_ids = '{}' then
    return;
  end if;
  with gone as (
    delete from worker.blocked as b where b.id = any (p_ids) returning b.*
  ),
  made as (
    insert into worker.ready (queue_id, kind, tier, band, rank, place, id, phase, attempt, failures, interruptions,
                              since)
    select g.queue_id, g.kind, g.tier, g.band, g.rank, g.place, g.id, g.phase, g.attempt, g.failures, g.interruptions,
           v_now
      from gone as g
     where g.phase <> 2
  )
  select array_agg(distinct g.queue_id) filter (where g.tier = 0), array_agg(distinct g.queue_id)
         filter (where g.tier = 1),
         array_agg(g.id) filter (where g.phase = 2)
    into v_children, v_tops, v_scopes
    from gone as g;
  perform worker.wake(v_children, 0), worker.wake(v_tops, 1);
  perform worker.reopen_scope(s.id) from unnest(v_scopes) as s (id);
end;
$$;
