-- are_projects_apart: are these the folders of two projects? Neither if one is in the other, nor if one is not known.
create or replace function worker.are_projects_apart(
  p_one    text,
  p_other  text
)
  returns boolean
  language sql immutable parallel safe
return coalesce(not starts_with(p_one || '/', p_other || '/')
                and not starts_with(p_other || '/', p_one || '/'), false);
