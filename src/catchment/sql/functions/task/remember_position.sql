-- remember_position: remember the last of the picked rows, where the next claim of this session starts; publish it for
-- other sessions once a second. If several publish at the same time, any of them wins.
--
--   session sets worker.position_…
create or replace function worker.remember_position(
  p_name  text,
  p_from  worker.claim_position,
  p_row   tid
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now worker.claim_position;
begin
  select p_name, r.tier, r.band, r.rank, r.place, r.id, p_from.looked_at, p_from.cost, p_from.published_at into v_now
    from worker.ready as r
   where r.ctid = p_row;
  if p_from.published_at < clock_timestamp() - interval '1 second'
     and worker.take_turn('position') then
    v_now.published_at := clock_timestamp();
    insert into worker.claim_position select v_now.*
    on conflict (name) do update
       set (tier, band, rank, place, id, looked_at, cost, published_at)
         = row(v_now.tier, v_now.band, v_now.rank, v_now.place, v_now.id, v_now.looked_at, v_now.cost,
               v_now.published_at);
  end if;
  perform set_config('worker.position_' || p_name, to_jsonb(v_now)::text, false);
end;
$$;
