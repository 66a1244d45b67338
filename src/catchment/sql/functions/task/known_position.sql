-- known_position: from where a session may pick ready rows: what it remembers, or what another session has published; null when
-- it has to look from the start.
create or replace function worker.known_position(
  p_name  text,
  p_own   text
)
  returns worker.claim_position
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_known worker.claim_position;
begin
  if p_own like '(%' then
    v_known := p_own;
  end if;
  if v_known.looked_at > clock_timestamp() - 20 * v_known.cost then
    return v_known;
  end if;
  select p.* into v_known
    from worker.claim_position as p
   where p.name = p_name and p.looked_at > clock_timestamp() - 20 * p.cost;
  return v_known;
end;
$$;
