-- pick_before: lock the first free ready rows of the groups in front of a position: earlier tiers, earlier bands, the
-- rank before. Each look has equal leading columns and one bound, so none runs past its group; a row comparison does on
-- some versions. p_is_calm: no cancel request is open, see pick_ready.
--
--   locks   ready rows that are free
create or replace function worker.pick_before(
  p_queue_id      integer,
  p_kind          "char",
  p_tier          smallint,
  p_from          worker.claim_position,
  p_is_calm       boolean,
  p_limit         integer,
  p_max_priority  integer
)
  returns tid[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows tid[] := '{}';
begin
  if p_tier < p_from.tier then
    v_rows := array(
      select r.ctid
        from worker.ready as r
       where r.queue_id = p_queue_id and r.kind = p_kind and r.tier = 0
         and (p_max_priority is null or r.band <= p_max_priority)
         and (p_is_calm or not worker.is_cancelling(r.id))
       order by r.band, r.rank, r.place, r.id
       limit p_limit
         for update skip locked);
  end if;
  if cardinality(v_rows) < p_limit then
    v_rows := v_rows || array(
      select r.ctid
        from worker.ready as r
       where r.queue_id = p_queue_id and r.kind = p_kind and r.tier = p_from.tier and r.band < p_from.band
         and (p_max_priority is null or r.band <= p_max_priority)
         and (p_is_calm or r.tier = 1 or not worker.is_cancelling(r.id))
       order by r.band, r.rank, r.place, r.id
       limit p_limit - cardinality(v_rows)
         for update skip locked);
  end if;
  if cardinality(v_rows) < p_limit and p_from.rank > 0
     and (p_max_priority is null or p_from.band <= p_max_priority) then
    v_rows := v_rows || array(
      select r.ctid
        from worker.ready as r
       where r.queue_id = p_queue_id and r.kind = p_kind and r.tier = p_from.tier and r.band = p_from.band
         and r.rank = 0
         and (p_is_calm or r.tier = 1 or not worker.is_cancelling(r.id))
       order by r.place, r.id
       limit p_limit - cardinality(v_rows)
         for update skip locked);
  end if;
  return v_rows;
end;
$$;
