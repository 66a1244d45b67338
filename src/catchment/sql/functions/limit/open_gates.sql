-- open_gates: admit the tasks that the limits of these gates allow now. A gate without waiting tasks and holders is
-- deleted when its tokens are full again.
--
--   locks   nothing new of gates: the caller holds their rows; then blocked and ready rows that are free
--   plan    probe
create or replace function worker.open_gates(p_gates text[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_many   constant integer := 1000;
  v_now    timestamptz := worker.now();
  v_gate   record;
  v_tokens double precision;
  v_room   integer;
  v_ids    bigint[];
  v_waits  boolean;
begin
  for v_gate in
    select g.*, c.max_running, c.rate, c.rate_per
      from worker.gate as g
      left join worker.command_registry as c on c.command = g.command
     where g.gate = any (p_gates)
     order by g.gate
       for update of g
  loop
    v_tokens := worker.refilled(v_gate.tokens, v_gate.refilled_at, v_now, v_gate.rate, v_gate.rate_per);
    -- Rounding must not keep a token that is due back for another moment.
    v_room := least(c_many, v_gate.max_running - v_gate.held, floor(v_tokens + 0.000001));
    v_ids := array(
      select b.id
        from worker.blocked as b
       where b.reason = 'limit'
         and b.lane = v_gate.gate
       order by b.band, b.place, b.id
       limit greatest(v_room, 0)
         for update skip locked);
    perform worker.unblock(v_ids);
    v_waits := exists (select from worker.blocked as b where b.reason = 'limit' and b.lane = v_gate.gate);
    update worker.gate as g
       set held        = v_gate.held + cardinality(v_ids),
           tokens      = coalesce(v_tokens, 0) - case when v_gate.rate is null then 0 else cardinality(v_ids) end,
           refilled_at = v_now,
           next_at     = case
                           when not v_waits then null
                           when v_gate.held + cardinality(v_ids) >= v_gate.max_running then null
                           when cardinality(v_ids) = c_many or v_gate.rate is null then v_now
                           else v_now + v_gate.rate_per / v_gate.rate
                                        * greatest(1 - (v_tokens - cardinality(v_ids)), 0.001)
                         end
     where g.gate = v_gate.gate;
  end loop;
end;
$$;
