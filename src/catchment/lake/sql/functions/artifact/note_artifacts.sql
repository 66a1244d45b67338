-- note_artifacts: record files that a task is about to write. A path that is recorded again belongs to the newer
-- attempt.
create or replace function lake.note_artifacts(
  p_refresh_id  bigint,
  p_task_id     bigint,
  p_fence       bigint,
  p_kind        text,
  p_paths       text[]
)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into lake.artifact as a (path, refresh_id, task_id, fence, kind, made_at)
  select p.path, p_refresh_id, p_task_id, p_fence, p_kind, worker.now()
    from (select distinct u.path from unnest(p_paths) as u (path)) as p
      on conflict (path) do update
     set refresh_id = excluded.refresh_id, task_id = excluded.task_id, fence = excluded.fence,
         made_at = excluded.made_at
   where a.fence <= excluded.fence
$$;
