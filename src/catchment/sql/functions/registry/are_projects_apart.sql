-- are_projects_apart: whether two folders belong to different projects. False if one contains the other, or if one is
-- unknown.
create or replace function worker.are_projects_apart(
  p_one    text,
  p_other  text
)
  returns boolean
  language sql immutable parallel safe
return coalesce(not starts_with(p_one || '/', p_other || '/')
                and not starts_with(p_other || '/', p_one || '/'), false);
