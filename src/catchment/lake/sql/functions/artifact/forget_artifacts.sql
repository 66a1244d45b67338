-- forget_artifacts: delete the records of files that are gone, or belong to the lake now. With p_fences, one for each
-- path, only the records of that attempt are deleted: another attempt may write there now.
create or replace function lake.forget_artifacts(
  p_paths   text[],
  p_fences  bigint[] default null
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  delete from lake.artifact as a
   using unnest(p_paths, p_fences) as g (path, fence)
   where a.path = g.path
     and a.fence = coalesce(g.fence, a.fence);
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
