-- ident_problem: a problem of identifiers, reported under each of their columns: those that have a value, or all if
-- none has. No message, no problem.
create or replace function register.ident_problem(
  p_codes    text[],
  p_idents   text[],
  p_message  text
)
  returns jsonb
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_object_agg(i.code, p_message)
    from unnest(p_codes, p_idents) as i (code, ident)
   where p_message is not null
     and i.code is not null
     and (i.ident is not null or coalesce(num_nonnulls(variadic p_idents), 0) = 0);
$$;
