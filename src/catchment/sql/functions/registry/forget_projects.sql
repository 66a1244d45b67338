-- forget_projects: remove the projects of commands whose folders were deleted or renamed. These commands belong to no
-- project until they are registered again.
--
--   locks   rows of the command registry, those changed
create or replace function worker.forget_projects(
  p_projects  text[]
)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update worker.command_registry as c
     set project = null
   where c.project = any (p_projects);
$$;
