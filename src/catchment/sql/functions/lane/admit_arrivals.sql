-- admit_arrivals: give each lane its committed arrivals, in the order they were made. One admitter at a time, so that no
-- later arrival is admitted before an earlier one; whoever finds another at work leaves it to that one.
--
--   locks   the admitter's advisory lock, then lane rows by key, then ready
create or replace function worker.admit_arrivals(p_limit integer default 5000)
  returns integer
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set enable_sort = off
as $$
declare
  v_lanes worker.arrival[];
  v_heads bigint[];
  v_count integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('worker.admit_arrivals', 0)) then
    return 0;
  end if;

  with due as (
    select a.arrival_id from worker.arrival as a order by a.arrival_id limit p_limit
  ),
  gone as (
    delete from worker.arrival as a where a.arrival_id = any (array(select d.arrival_id from due as d)) returning a.*
  ),
  summed as (
    select g.queue_id, g.lane, min(g.first_place) as first_place, max(g.last_place) as last_place, count(*) as n
      from gone as g
     group by g.queue_id, g.lane
  )
  select array_agg((0, s.queue_id, s.lane, s.first_place, s.last_place)::worker.arrival order by s.queue_id, s.lane), sum(s.n)
    into v_lanes, v_count
    from summed as s;
  if v_count is null then
    return 0;
  end if;

  -- Lanes at work only learn how far their line reaches now.
  perform l.lane
     from worker.lane as l
     join unnest(v_lanes) as a on a.queue_id = l.queue_id and a.lane = l.lane
    order by l.queue_id, l.lane
      for update of l;
  with learned as (
    update worker.lane as l
       set first_place = least(l.first_place, a.first_place),
           last_place  = greatest(l.last_place, a.last_place)
      from unnest(v_lanes) as a
     where a.queue_id = l.queue_id
       and a.lane = l.lane
    returning l.queue_id, l.lane
  )
  select coalesce(array_agg(a order by a.queue_id, a.lane), '{}') into v_lanes
    from unnest(v_lanes) as a
   where not exists (select from learned as l where l.queue_id = a.queue_id and l.lane = a.lane);

  -- Idle lanes get a head, unless a finished neighbour took it with it already. It is locked, or a cancel could take it from
  -- under the new lane; where somebody else holds it, the arrival stays: the first one is not passed over.
  with idle as materialized (
    select a.queue_id, a.lane, a.first_place, a.last_place, h.id
      from unnest(v_lanes) as a
      left join lateral (
        select b.id
          from worker.blocked as b
         where b.reason = 'lane'
           and b.queue_id = a.queue_id
           and b.lane = a.lane
           and b.place between a.first_place and a.last_place
         order by b.place, b.id
         limit 1
      ) as f on true
      left join lateral (
        select b.id from worker.blocked as b where b.id = f.id for update skip locked
      ) as h on true
  ),
  opened as (
    insert into worker.lane (queue_id, lane, head_id, first_place, last_place)
    select i.queue_id, i.lane, i.id, i.first_place, i.last_place from idle as i where i.id is not null
    on conflict (queue_id, lane) do update -- a retried scope has just taken it
       set first_place = least(worker.lane.first_place, excluded.first_place),
           last_place  = greatest(worker.lane.last_place, excluded.last_place)
    returning head_id
  ),
  kept as (
    insert into worker.arrival (queue_id, lane, first_place, last_place)
    select i.queue_id, i.lane, i.first_place, i.last_place
      from idle as i
     where i.id is null
       and exists (select from worker.blocked as b where b.reason = 'lane' and b.queue_id = i.queue_id and b.lane = i.lane
                                                     and b.place between i.first_place and i.last_place)
  )
  select array_agg(i.id) into v_heads from opened as o join idle as i on i.id = o.head_id;
  perform worker.unblock(v_heads);
  return v_count;
end;
$$;
