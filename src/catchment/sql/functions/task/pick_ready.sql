-- pick_ready: lock the first free ready rows. The session remembers how far it got; see claim.
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
  c_hint_life constant interval := '1 second';
  v_hint  text[] := string_to_array(current_setting('worker.hint', true), ',');
  v_rows  tid[] := '{}';
  v_last  worker.ready;
begin
  if v_hint[1] is distinct from format('%s/%s/%s', p_queue_id, p_kind, p_tier)
     or v_hint[6]::timestamptz < clock_timestamp() - c_hint_life then
    v_hint := null;
  end if;

  if v_hint is not null then
    v_rows := array(
      select r.ctid
        from worker.ready as r
       where r.queue_id = p_queue_id and r.kind = p_kind and r.tier = p_tier
         and (r.band, r.rank) < (v_hint[2]::integer, v_hint[3]::smallint)
         and (p_max_priority is null or r.band <= p_max_priority)
       order by r.band, r.rank, r.place, r.id
       limit p_limit
         for update skip locked);
    if cardinality(v_rows) < p_limit then
      v_rows := v_rows || array(
        select r.ctid
          from worker.ready as r
         where r.queue_id = p_queue_id and r.kind = p_kind and r.tier = p_tier
           and (r.band, r.rank, r.place, r.id)
               > (v_hint[2]::integer, v_hint[3]::smallint, v_hint[4]::bigint, v_hint[5]::bigint)
           and (p_max_priority is null or r.band <= p_max_priority)
         order by r.band, r.rank, r.place, r.id
         limit p_limit - cardinality(v_rows)
           for update skip locked);
    end if;
  end if;

  -- Nothing there, or no hint: look from the start, where late committers and released tasks are.
  if v_rows = '{}' then
    v_rows := array(
      select r.ctid
        from worker.ready as r
       where r.queue_id = p_queue_id and r.kind = p_kind and r.tier = p_tier
         and (p_max_priority is null or r.band <= p_max_priority)
       order by r.band, r.rank, r.place, r.id
       limit p_limit
         for update skip locked);
    v_hint := null;
  end if;

  if v_rows = '{}' then
    perform set_config('worker.hint', '', false);
  else
    select r.* into v_last from worker.ready as r where r.ctid = v_rows[cardinality(v_rows)];
    perform set_config('worker.hint',
                       format('%s/%s/%s,%s,%s,%s,%s,%s', p_queue_id, p_kind, p_tier, v_last.band, v_last.rank, v_last.place,
                              v_last.id, coalesce(v_hint[6], clock_timestamp()::text)),
                       false);
  end if;
  return v_rows;
end;
$$;
