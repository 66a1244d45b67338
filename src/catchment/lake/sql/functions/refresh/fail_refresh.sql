-- fail_refresh: the attempt that holds a refresh fails it for good. A published refresh cannot fail.
--
--   EXECUTING | PUBLISHING -> FAILED, or CANCELLED with the code CANCELLED
--   returns the state it is in now
--   locks   the round, the refresh row, then the table's
--   raises  CM001 the claim was lost
create or replace function lake.fail_refresh(
  p_refresh_id  bigint,
  p_fence       bigint,
  p_code        text,
  p_text        text
)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round_id bigint;
  v_state    text;
begin
  perform lake.lock_round(p_refresh_id);
  select r.round_id into v_round_id
    from lake.refresh as r
   where r.id = p_refresh_id
     and r.fence = p_fence
     and r.finished_at is null
     for update;
  if not found then
    perform lake.raise_not_held(p_refresh_id, p_fence);
  end if;
  v_state := lake.settle_refresh(p_refresh_id, case p_code when 'CANCELLED' then 'CANCELLED' else 'FAILED' end, p_code,
                                 p_text);
  perform lake.advance(v_round_id);
  return v_state;
end;
$$;
