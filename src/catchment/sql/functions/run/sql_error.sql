-- sql_error: the error of a SQL handler as it is stored with its task. Each text is cut to 10,000 characters: a handler
-- may raise more than jsonb can hold.
create or replace function worker.sql_error(
  p_sqlstate  text,
  p_message   text,
  p_detail    text,
  p_hint      text,
  p_context   text
)
  returns jsonb
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object(
           'kind', p_sqlstate, 'message', left(p_message, 10000), 'detail', nullif(left(p_detail, 10000), ''),
           'hint', nullif(left(p_hint, 10000), ''), 'context', nullif(left(p_context, 10000), '')));
$$;
