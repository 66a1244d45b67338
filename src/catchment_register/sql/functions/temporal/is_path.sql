-- is_path: whether a text is a path: labels of letters, digits and _, with dots between them. Inlined, therefore
-- without a SET clause.
create or replace function register.is_path(p_text text)
  returns boolean
  language sql immutable
as $$
  select p_text ~ '^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$';
$$;
