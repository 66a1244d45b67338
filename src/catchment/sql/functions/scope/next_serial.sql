-- next_serial: the next child of each of these serial scopes becomes ready.
--
--   locks   blocked rows, then ready; the caller holds the scope rows
create or replace function worker.next_serial(p_scope_ids bigint[])
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  if p_scope_ids is null then
    return;
  end if;
  perform worker.unblock(array(
    select n.id
      from unnest(p_scope_ids) as s (id)
     cross join lateral (
       select b.id
         from worker.blocked as b
        where b.wait_id = s.id
          and b.reason = 'serial'
        order by b.band, b.place, b.id
        limit 1
     ) as n));
end;
$$;
