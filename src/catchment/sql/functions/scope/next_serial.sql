-- next_serial: the next child of each of these serial scopes becomes ready; one that is a scope to be retried (phase 2) is
-- reopened instead.
--
--   locks   blocked rows, then ready; the caller holds the scope rows, and nobody else takes those of settled scopes below
create or replace function worker.next_serial(p_scope_ids bigint[])
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_next   bigint[];
  v_reopen bigint[];
begin
  if p_scope_ids is null then
    return;
  end if;
  select array_agg(n.id) filter (where n.phase <> 2), array_agg(n.id) filter (where n.phase = 2)
    into v_next, v_reopen
    from unnest(p_scope_ids) as s (id)
   cross join lateral (
     select b.id, b.phase
       from worker.blocked as b
      where b.wait_id = s.id
        and b.reason = 'serial'
      order by b.band, b.place, b.id
      limit 1
   ) as n;
  perform worker.unblock(v_next);
  if v_reopen is not null then
    delete from worker.blocked as b where b.id = any (v_reopen);
    perform worker.reopen_scope(r.id) from unnest(v_reopen) as r (id);
  end if;
end;
$$;
