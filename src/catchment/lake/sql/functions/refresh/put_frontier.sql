-- put_frontier: the frontier of a table moves to what a refresh has read. Without a commit of the refresh the content
-- is where it was before; where that has expired, and for a table that was never filled, where the refresh found it.
--
--   locks   the frontier row
--   raises  CM015 the commit to the lake is refused
create or replace function lake.put_frontier(p_refresh lake.refresh)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_round  lake.round;
  v_commit bigint;
begin
  select o.* into v_round from lake.round as o where o.id = p_refresh.round_id;
  update lake.frontier as f
     set epoch            = f.epoch + 1,
         data_snapshot    = v_round.snapshot,
         data_at          = v_round.data_at,
         commit_snapshot  = coalesce(p_refresh.commit_snapshot,
                                     (select s.snapshot_id from lake.ducklake_snapshot as s
                                       where s.snapshot_id = f.commit_snapshot),
                                     p_refresh.checked_snapshot),
         checked_snapshot = p_refresh.checked_snapshot,
         rows             = p_refresh.rows_after,
         round_id         = v_round.id
   where f.dt_id = p_refresh.dt_id
     and f.epoch = p_refresh.from_epoch
     and coalesce((f.data_snapshot, f.round_id) < (v_round.snapshot, v_round.id), true)
  returning f.commit_snapshot into v_commit;
  if not found then
    perform lake.veto(format('refresh %s started from epoch %s of table %s, which has moved on', p_refresh.id,
                             p_refresh.from_epoch, p_refresh.dt_id));
  end if;

  update lake.source as s
     set table_id = (r.value ->> 'table_id')::bigint
    from jsonb_array_elements(p_refresh.to_reads) as r
   where s.dt_id = p_refresh.dt_id
     and s.table_id = (r.value ->> 'replaces')::bigint;
  delete from lake.read as r where r.dt_id = p_refresh.dt_id;
  insert into lake.read (dt_id, table_id, snapshot, rows, columns, merged)
  select p_refresh.dt_id, n.table_id, n.snapshot, n.rows, n.columns, coalesce(n.merged, 0)
    from jsonb_to_recordset(p_refresh.to_reads) as n (table_id bigint, snapshot bigint, rows bigint, columns jsonb,
                                                      merged bigint);

  -- A separate row even if the commit is the same as before: between the two snapshots the content may have differed.
  -- The same snapshot once more is the turn of a table that depends on the time.
  insert into lake.version as v (dt_id, data_from, data_to, commit_snapshot, rows)
  values (p_refresh.dt_id, v_round.snapshot, v_round.snapshot, v_commit, p_refresh.rows_after)
      on conflict (dt_id, data_from) do update
     set data_to = excluded.data_to, commit_snapshot = excluded.commit_snapshot, rows = excluded.rows;
  if p_refresh.buckets is not null then
    update lake.dt as d set buckets = p_refresh.buckets where d.id = p_refresh.dt_id and d.buckets <> p_refresh.buckets;
  end if;
end;
$$;
