-- admit_arrivals: give each lane its committed arrivals, in the order they were made. One session at a time, so that no
-- later arrival is admitted before an earlier one; if another session has the turn, this one does nothing.
--
--   locks   the turn of admission if it is free, then lane rows by key, then ready
--   plan    walk
create or replace function worker.admit_arrivals(
  p_limit  integer default 5000,
  p_only   text default null
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_lanes worker.held_lane[];
  v_busy  worker.held_lane[];
  v_heads bigint[];
  v_count integer;
  v_aside text[];
begin
  -- As take_turn and set_aside, in one statement: each claim that finds an arrival waits for it.
  select array(select x.item from worker.trouble as x where p_only is null and x.step = 'lane' and x.item <> '')
    into v_aside
    from worker.turn as t
   where t.name = 'admission' and exists (select from worker.arrival)
     for update of t skip locked;
  if not found then
    return 0;
  end if;

  with due as (
    select a.ctid as row_id
      from worker.arrival as a
     where (p_only is null or a.queue_id || '/' || a.lane = p_only)
       and (v_aside = '{}' or a.queue_id || '/' || a.lane <> all (v_aside))
     order by a.arrival_id
     limit p_limit
  ),
  gone as (
    delete from worker.arrival as a where a.ctid = any (array(select d.row_id from due as d)) returning a.*
  ),
  summed as (
    select g.queue_id, g.lane, min(g.first_place) as first_place, max(g.last_place) as last_place, count(*) as n
      from gone as g
     group by g.queue_id, g.lane
  )
  select array_agg((null, s.queue_id, s.lane, s.first_place, s.last_place, null, null)::worker.held_lane
                   order by s.queue_id, s.lane),
         sum(s.n)
    into v_lanes, v_count
    from summed as s;
  if v_count is null then
    return 0;
  end if;

  -- Lanes at work only learn how far their line reaches now. Lateral limits fix the order of the joins: see
  -- take_attempts.
  v_lanes := array(
    select (l.row_id, a.queue_id, a.lane, least(a.first_place, l.first_place), greatest(a.last_place, l.last_place),
            null, null)::worker.held_lane
      from unnest(v_lanes) as a
      left join lateral (select l.ctid as row_id, l.first_place, l.last_place
                           from worker.lane as l
                          where l.queue_id = a.queue_id and l.lane = a.lane
                          limit 1
                            for update) as l on true);
  v_busy := array(select a from unnest(v_lanes) as a where a.row_id is not null);
  if v_busy <> '{}' then
    perform worker.write_lanes(array(select a.row_id from unnest(v_busy) as a), null,
                               array(select a.first_place from unnest(v_busy) as a),
                               array(select a.last_place from unnest(v_busy) as a));
  end if;

  -- Idle lanes get a head, unless a finished neighbour took it with it already. It is locked, or a cancel could take it
  -- from under the new lane; if another session holds it, the arrival stays: the first one is not passed over.
  v_lanes := array(
    select (null, a.queue_id, a.lane, a.first_place, a.last_place, h.id, null)::worker.held_lane
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
        select b.id from worker.blocked as b where b.id = f.id limit 1 for update skip locked
      ) as h on true
     where a.row_id is null);
  with opened as (
    insert into worker.lane (queue_id, lane, head_id, first_place, last_place)
    select a.queue_id, a.lane, a.head_id, a.first_place, a.last_place from unnest(v_lanes) as a
     where a.head_id is not null
    on conflict (queue_id, lane) do nothing -- a retried scope has just taken it
    returning head_id
  )
  select array_agg(o.head_id) into v_heads from opened as o;
  if cardinality(v_lanes) > coalesce(cardinality(v_heads), 0) then
    insert into worker.arrival (queue_id, lane, first_place, last_place)
    select a.queue_id, a.lane, a.first_place, a.last_place
      from unnest(v_lanes) as a
     where (a.head_id is null or v_heads is null or a.head_id <> all (v_heads))
       and exists (select from worker.blocked as b where b.reason = 'lane' and b.queue_id = a.queue_id
                      and b.lane = a.lane
                                                     and b.place between a.first_place and a.last_place);
  end if;
  perform worker.unblock(v_heads);
  return v_count;
end;
$$;
