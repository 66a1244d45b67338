-- forget_artifacts: files that are gone, or belong to the lake now.
create or replace function lake.forget_artifacts(p_paths text[])
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  delete from lake.artifact as a where a.path = any (p_paths);
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
