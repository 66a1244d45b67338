-- known_position: from where a session may pick ready rows: what it remembers, or what another session has published,
-- which may have expired, but not long ago.
create or replace function worker.known_position(
  p_name  text,
  p_own   text
)
  returns worker.claim_position
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_longest constant interval := '1 minute';
  v_known worker.claim_position;
begin
  if p_own like '{%' then
    begin
      v_known := jsonb_populate_record(null::worker.claim_position, p_own::jsonb);
      if v_known.name = p_name and v_known.looked_at between clock_timestamp() - 20 * least(v_known.cost, c_longest)
                                                         and clock_timestamp() then
        return v_known;
      end if;
    exception
      when data_exception then
        null; -- what a session remembers is only a hint, and may be any text
    end;
  end if;
  select p.* into v_known
    from worker.claim_position as p
   where p.name = p_name and p.looked_at > clock_timestamp() - 40 * least(p.cost, c_longest);
  return v_known;
end;
$$;
