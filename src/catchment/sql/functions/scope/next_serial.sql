-- next_serial: make the next child of each of these serial scopes ready.
--
--   locks   see unblock; the caller holds the scope rows
create or replace function worker.next_serial(p_scope_ids bigint[])
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.unblock(array_agg(n.id))
    from unnest(p_scope_ids) as s (id)
   cross join lateral (
     select b.id
       from worker.blocked as b
      where b.wait_id = s.id
        and b.reason = 'serial'
      order by b.band, b.place, b.id
      limit 1
   ) as n;
$$;
