-- pick_ready: lock the first free ready rows of a tier, or without one of both, children and joins first. Where that
-- takes long, because the index is full of entries that are dead but still visible to an old snapshot, it picks from
-- the position where it last was, and looks from the start again only as often as keeps such looks to a twentieth of
-- the time: late committers and released tasks may be there. More urgent tasks are looked for in front of the position
-- even then. Sessions tell each other the position through a table. A first slow look, and one that is much slower than
-- the one before, is confirmed by up to three others: the server may have been busy with something else, or the look
-- itself may have marked the dead entries. While any cancel request is open, children and joins under a task that was
-- asked to stop are passed over.
--
--   locks   ready rows that are free
--   session reads worker.position_…, sets worker.position_…
create or replace function worker.pick_ready(
  p_queue_id      integer,
  p_kind          "char",
  p_tier          smallint,
  p_limit         integer,
  p_max_priority  integer
)
  returns tid[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_name    text := format('%s%s%s', p_queue_id, p_kind, p_tier);
  v_first   smallint := coalesce(p_tier, 0);
  v_final   smallint := coalesce(p_tier, 1);
  v_own     text := current_setting('worker.position_' || v_name, true);
  v_is_calm boolean := not exists (select from worker.cancel_request);
  v_from    worker.claim_position := case when v_own = '' then null else worker.known_position(v_name, v_own) end;
  v_start   timestamptz := clock_timestamp();
  v_holds   boolean := coalesce(v_from.looked_at > v_start - 20 * v_from.cost, false);
  v_again   timestamptz;
  v_cost    interval;
  v_healthy interval;
  v_tries   integer := 0;
  v_rows    tid[] := '{}';
  v_behind  tid[] := '{}';
begin
  if v_holds then
    v_rows := worker.pick_before(p_queue_id, p_kind, v_first, v_from, v_is_calm, p_limit, p_max_priority);
    if cardinality(v_rows) < p_limit then
      v_behind := array(
        select r.ctid
          from worker.ready as r
         where r.queue_id = p_queue_id and r.kind = p_kind and r.tier <= v_final
           and (r.tier, r.band, r.rank, r.place, r.id)
               > (v_from.tier, v_from.band, v_from.rank, v_from.place, v_from.id)
           and (p_max_priority is null or r.band <= p_max_priority)
           and (v_is_calm or r.tier = 1 or not worker.is_cancelling(r.id))
         order by r.tier, r.band, r.rank, r.place, r.id
         limit p_limit - cardinality(v_rows)
           for update skip locked);
      v_rows := v_rows || v_behind;
    end if;
  end if;

  if not v_holds
     or cardinality(v_rows) < p_limit and v_from.cost < interval '10 milliseconds'
     or v_rows = '{}' and v_from.looked_at < v_start - 4 * v_from.cost then
    v_start := clock_timestamp();
    v_rows := array(
      select r.ctid
        from worker.ready as r
       where r.queue_id = p_queue_id and r.kind = p_kind and r.tier between v_first and v_final
         and (p_max_priority is null or r.band <= p_max_priority)
         and (v_is_calm or r.tier = 1 or not worker.is_cancelling(r.id))
       order by r.tier, r.band, r.rank, r.place, r.id
       limit p_limit
         for update skip locked);
    v_cost := clock_timestamp() - v_start;
    -- usually 5 us for each row
    v_healthy := interval '500 microseconds' + interval '20 microseconds' * cardinality(v_rows);
    while v_tries < 3 and v_cost > v_healthy and coalesce(v_cost > 4 * v_from.cost, true) loop
      v_again := clock_timestamp();
      perform
         from worker.ready as r
        where r.queue_id = p_queue_id and r.kind = p_kind and r.tier between v_first and v_final
          and (p_max_priority is null or r.band <= p_max_priority)
        order by r.tier, r.band, r.rank, r.place, r.id
        limit p_limit;
      v_cost := least(v_cost, clock_timestamp() - v_again);
      v_tries := v_tries + 1;
    end loop;
    if v_cost < v_healthy then
      if v_own is distinct from '' then
        perform set_config('worker.position_' || v_name, '', false);
      end if;
      return v_rows;
    end if;
    v_from.looked_at := v_start;
    v_from.cost := v_cost;
    v_from.published_at := '-infinity';
    v_behind := v_rows;
  end if;

  if v_behind <> '{}' then
    perform worker.remember_position(v_name, v_from, v_rows[cardinality(v_rows)]);
  end if;
  return v_rows;
end;
$$;
