-- prepare_publish: record what is about to be committed to the lake. It commits before the lake's transaction begins:
-- that one sees our tables as they were when it first touched the catalog, and a row changed later would stop it.
-- p_publication: action, reason, inserted, deleted, rows_after, keys, buckets, reads, figures.
--
--   EXECUTING | PUBLISHING -> PUBLISHING
--   locks   the refresh row
--   raises  CM001 the claim was lost
create or replace function lake.prepare_publish(
  p_refresh_id   bigint,
  p_fence        bigint,
  p_publication  jsonb
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- A second time: the first transaction was undone, and what it wrote may be there.
  perform lake.note_directory(p_refresh_id);
  update lake.refresh as r
     set state      = 'PUBLISHING',
         action     = p_publication ->> 'action',
         reason     = p_publication ->> 'reason',
         inserted   = (p_publication ->> 'inserted')::bigint,
         deleted    = (p_publication ->> 'deleted')::bigint,
         rows_after = (p_publication ->> 'rows_after')::bigint,
         keys       = coalesce((p_publication ->> 'keys')::bigint, r.keys),
         buckets    = (p_publication ->> 'buckets')::integer,
         to_reads   = p_publication -> 'reads',
         figures    = r.figures || coalesce(p_publication -> 'figures', '{}')
   where r.id = p_refresh_id
     and r.fence = p_fence
     and r.state in ('EXECUTING', 'PUBLISHING');
  if not found then
    perform lake.raise_not_held(p_refresh_id, p_fence);
  end if;
end;
$$;
