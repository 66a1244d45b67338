-- pick_ready: lock the first free ready rows of a tier, or without one of both, children and joins first. Where that takes long,
-- because the index is full of entries that are dead but still visible to an old snapshot, the session remembers its position and
-- picks from there on, for as long as keeps such looks to a twentieth of its time. More urgent tasks are looked for in front of it
-- even then, and where there is little behind it, it looks from the start if that is not too long: late committers, released
-- tasks and joins may be there.
--
--   locks   ready rows that are free
create or replace function worker.pick_ready(
  p_queue_id      integer,
  p_kind          "char",
  p_tier          smallint,
  p_limit         integer,
  p_max_priority  integer
)
  returns tid[]
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_name  text := format('worker.hint_%s%s%s', p_queue_id, p_kind, p_tier);
  v_first smallint := coalesce(p_tier, 0);
  v_final smallint := coalesce(p_tier, 1);
  v_hint  text[] := string_to_array(nullif(current_setting(v_name, true), ''), ',');
  v_start timestamptz := clock_timestamp();
  v_rows  tid[] := '{}';
  v_cost  interval := v_hint[6];
  v_last  worker.ready;
begin
  if v_hint[5]::timestamptz >= v_start then
    v_rows := array(
      select r.ctid
        from worker.ready as r
       where r.queue_id = p_queue_id and r.kind = p_kind and r.tier between v_first and v_final
         and (r.tier, r.band, r.rank) < (v_hint[7]::smallint, v_hint[1]::integer, v_hint[2]::smallint)
         and (p_max_priority is null or r.band <= p_max_priority)
       order by r.tier, r.band, r.rank, r.place, r.id
       limit p_limit
         for update skip locked);
    if cardinality(v_rows) < p_limit then
      v_rows := v_rows || array(
        select r.ctid
          from worker.ready as r
         where r.queue_id = p_queue_id and r.kind = p_kind and r.tier between v_first and v_final
           and (r.tier, r.band, r.rank, r.place, r.id)
               > (v_hint[7]::smallint, v_hint[1]::integer, v_hint[2]::smallint, v_hint[3]::bigint, v_hint[4]::bigint)
           and (p_max_priority is null or r.band <= p_max_priority)
         order by r.tier, r.band, r.rank, r.place, r.id
         limit p_limit - cardinality(v_rows)
           for update skip locked);
    end if;
  end if;

  if v_rows = '{}' or cardinality(v_rows) < p_limit and v_cost < interval '10 milliseconds' then
    v_rows := array(
      select r.ctid
        from worker.ready as r
       where r.queue_id = p_queue_id and r.kind = p_kind and r.tier between v_first and v_final
         and (p_max_priority is null or r.band <= p_max_priority)
       order by r.tier, r.band, r.rank, r.place, r.id
       limit p_limit
         for update skip locked);
    -- A healthy pick takes about 5 us for each row.
    v_cost := clock_timestamp() - v_start;
    if v_cost < interval '500 microseconds' + interval '20 microseconds' * cardinality(v_rows) then
      if v_hint is not null then
        perform set_config(v_name, '', false);
      end if;
      return v_rows;
    end if;
    v_hint[5] := v_start + 20 * v_cost;
    v_hint[6] := v_cost;
  end if;

  if v_rows <> '{}' then
    select r.* into v_last from worker.ready as r where r.ctid = v_rows[cardinality(v_rows)];
    perform set_config(v_name, format('%s,%s,%s,%s,%s,%s,%s', v_last.band, v_last.rank, v_last.place, v_last.id, v_hint[5],
                                      v_hint[6], v_last.tier), false);
  end if;
  return v_rows;
end;
$$;
