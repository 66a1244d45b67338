-- note_offspring: record that this transaction makes children or follow-ups of an attempt that it will end. The child
-- mode and on_child_failure may be given by a later call.
--
--   writes  worker.offspring
create or replace function worker.note_offspring(
  p_fence             bigint,
  p_child_mode        text,
  p_on_child_failure  text
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into worker.offspring as o (fence, child_mode, on_child_failure)
  values (p_fence, p_child_mode, p_on_child_failure)
  on conflict (xact, fence) do update
     set child_mode       = coalesce(excluded.child_mode, o.child_mode),
         on_child_failure = coalesce(excluded.on_child_failure, o.on_child_failure);
end;
$$;
